import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listen } from '../../../test/support/app.ts';
import { createBareServer } from '../../../test/support/server.ts';
import { createHostReadings } from '../../host/index.ts';
import { createMonitoringRoutes } from './routes.ts';

const now = new Date(2026, 0, 2, 3, 4, 5);
let monotonicMs = 1000;

const host = createHostReadings();
const app = createBareServer();
const parts = {
  clock: () => now,
  monotonicMs: () => monotonicMs,
  host,
  version: '1.2.3',
  nodeVersion: '20.20.2',
};
for (const { path, ...route } of createMonitoringRoutes({
  ...parts,
  readPowerShellVersion: async () => null,
})) {
  app.route({ ...route, url: path });
}
const { request } = await listen({ after }, app);
after(() => host.close());

const get = async (url: string): Promise<unknown> => (await request('GET', url)).json;

test('GET /health reports the uptime of the server', async () => {
  monotonicMs += 90_061_500;
  const { hostname } = await host.system();
  const expected = { status: 'healthy', uptime: '1.01:01:01.5000000', version: '1.2.3', hostname };
  assert.equal(JSON.stringify(await get('/health')), JSON.stringify(expected));
});

test('GET /api/health reports the usage of the machine', async () => {
  const health = JSON.stringify(await get('/api/health'));
  const { hostname } = await host.system();
  assert.match(health, /^\{"status":"healthy","timestamp":"2026-01-02T03:04:05","computer":"/);
  assert.match(health, /,"uptime":"\d+\.\d days","cpuUsage":"\d{1,3}%","memoryUsage":"\d{1,3}\.\d%"\}$/);
  assert.ok(health.includes(JSON.stringify(hostname)));
});

test('GET /api/info reports Unknown for a PowerShell that is not installed', async () => {
  const { hostname, osName } = await host.system();
  const uptime = Math.round(host.uptimeSeconds() / 8640) / 10;
  assert.deepEqual(await get('/api/info'), {
    computer: hostname,
    os: osName,
    psVersion: 'Unknown',
    frameworkVersion: 'Node.js 20.20.2',
    uptime,
  });
});

test('GET /api/processes lists 10 or `top` processes by memory and ignores `sort`', async () => {
  const ten = (await get('/api/processes')) as { count: number; data: { memoryMB: number }[] };
  assert.equal(ten.count, ten.data.length);
  assert.ok(ten.count <= 10);
  assert.deepEqual(await get('/api/processes?top=0&sort=Name'), { count: 0, data: [] });
  const { data } = (await get('/api/processes?top=100000&sort=Name')) as typeof ten;
  const sizes = data.map(({ memoryMB }) => memoryMB);
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
  );
});

test('GET /api/disks lists consistent sizes', async () => {
  const { data } = (await get('/api/disks')) as { data: Record<string, number>[] };
  assert.deepEqual(Object.keys(data[0] ?? {}), ['drive', 'totalGB', 'freeGB', 'usagePct']);
  for (const { totalGB = 0, freeGB = 0, usagePct = -1 } of data) {
    assert.ok(freeGB <= totalGB && usagePct >= 0 && usagePct <= 100);
  }
});
