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
