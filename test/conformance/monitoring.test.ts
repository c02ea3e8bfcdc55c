import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { programVersion } from '../../src/server/package-info.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { waitUntilPasses } from '../support/wait.ts';

interface ProcessRow {
  name: string;
  pid: number;
  memoryMB: number;
  cpu: number;
}

const get = async <T = Record<string, unknown>>(t: TestContext, path: string): Promise<{ text: string; json: T }> => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const { status, text, json } = await request<T>('GET', path);
  assert.equal(status, 200, text);
  return { text, json };
};

const hasDecimals = (value: number, decimals: number): boolean => Number(value.toFixed(decimals)) === value;

test('GET /health returns status, uptime, version and hostname, in this order, without a token', async (t) => {
  const { json } = await get(t, '/health');
  assert.deepEqual(Object.keys(json), ['status', 'uptime', 'version', 'hostname']);
  assert.deepEqual([json['status'], json['version'], json['hostname']], ['healthy', programVersion, hostname()]);
});

/** Returns the uptime reported by the server, in seconds. */
const readUptime = async (request: TestApp['request']): Promise<number> => {
  const { json } = await request<{ uptime: string }>('GET', '/health');
  const [, days = '0', ...rest] = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d\.\d{7})$/.exec(json.uptime) ?? [];
  const [hours, minutes, seconds] = rest.map(Number) as [number, number, number];
  return ((Number(days) * 24 + hours) * 60 + minutes) * 60 + seconds;
};

test('the uptime of /health is the time since the server’s start as [d.]hh:mm:ss.fffffff', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const first = await readUptime(request);
  assert.ok(first >= 0 && first < 60, String(first));
  assert.ok((await readUptime(request)) >= first);
});

test('the uptime of /health keeps growing when the wall clock is set back', async (t) => {
  const now = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now });
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const first = await readUptime(request);
  t.mock.timers.setTime(now - 2 * 3_600_000);
  await waitUntilPasses(async () => assert.ok((await readUptime(request)) > first));
});

test('GET /api/health returns its six fields in order, with a local timestamp without a zone', async (t) => {
  const { json } = await get(t, '/api/health');
  assert.deepEqual(Object.keys(json), ['status', 'timestamp', 'computer', 'uptime', 'cpuUsage', 'memoryUsage']);
  assert.deepEqual([json['status'], json['computer']], ['healthy', hostname()]);
  assert.match(String(json['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.ok(Math.abs(new Date(String(json['timestamp'])).getTime() - Date.now()) < 5000);
});

test('uptime looks like 12.3 days, cpuUsage like 7% and memoryUsage like 41.7%', async (t) => {
  const { json } = await get<Record<string, string>>(t, '/api/health');
  assert.match(json['uptime'] ?? '', /^\d+\.\d days$/);
  assert.match(json['cpuUsage'] ?? '', /^(100|\d{1,2})%$/);
  assert.match(json['memoryUsage'] ?? '', /^(100\.0|\d{1,2}\.\d)%$/);
});

test('GET /api/info returns computer, os, psVersion, frameworkVersion and uptime in days', async (t) => {
  const { json } = await get(t, '/api/info');
  assert.deepEqual(Object.keys(json), ['computer', 'os', 'psVersion', 'frameworkVersion', 'uptime']);
  assert.equal(json['computer'], hostname());
  assert.ok(typeof json['os'] === 'string' && json['os'] !== '');
  assert.ok(typeof json['uptime'] === 'number' && hasDecimals(json['uptime'], 1));
});

test('frameworkVersion is the version of Node.js, and psVersion a version or Unknown', async (t) => {
  const { json } = await get(t, '/api/info');
  assert.equal(json['frameworkVersion'], `Node.js ${process.versions.node}`);
  assert.match(String(json['psVersion']), /^(Unknown|\d+\.\d+.*)$/);
});

test('GET /api/processes returns count and data, with ten processes by default', async (t) => {
  const { json } = await get<{ count: number; data: ProcessRow[] }>(t, '/api/processes');
  assert.deepEqual(Object.keys(json), ['count', 'data']);
  assert.equal(json.count, json.data.length);
  assert.ok(json.count > 0 && json.count <= 10);
  for (const row of json.data) assert.deepEqual(Object.keys(row), ['name', 'pid', 'memoryMB', 'cpu']);
});

test('memoryMB has one decimal and cpu has two', async (t) => {
  const { json } = await get<{ data: ProcessRow[] }>(t, '/api/processes?top=1000');
  for (const { memoryMB, cpu } of json.data) assert.ok(hasDecimals(memoryMB, 1) && hasDecimals(cpu, 2));
  assert.ok(json.data.some(({ cpu }) => cpu > 0));
});

test('rounded values are JSON numbers, or strings where the contract requires strings', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const processes = await request('GET', '/api/processes?top=1');
  assert.match(processes.text, /"memoryMB":\d+(\.\d)?,"cpu":\d+(\.\d{1,2})?\}/);
  const disks = await request('GET', '/api/disks');
  assert.match(disks.text, /"totalGB":\d+(\.\d{1,2})?,"freeGB":\d+(\.\d{1,2})?,"usagePct":\d+(\.\d)?\}/);
  const health = await request('GET', '/api/health');
  assert.match(health.text, /"uptime":"[^"]+","cpuUsage":"[^"]+","memoryUsage":"[^"]+"/);
});

test('processes are sorted by working set, largest first, and top limits them', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const list = async (query: string) =>
    (await request<{ data: ProcessRow[] }>('GET', `/api/processes${query}`)).json.data;
  const all = await list('?top=100000');
  assert.ok(all.some(({ pid }) => pid === process.pid));
  assert.ok(all.every(({ memoryMB }, index) => index === 0 || memoryMB <= (all[index - 1]?.memoryMB ?? 0)));
  assert.equal((await list('?top=3')).length, 3);
  assert.deepEqual(await list('?top=0'), []);
});

test('sort is accepted and has no effect', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const texts = ['sort=Memory', 'sort=CPU', 'sort=nonsense', 'sort='].map(async (sort) => {
    const { status, json } = await request<{ data: ProcessRow[] }>('GET', `/api/processes?top=5&${sort}`);
    assert.equal(status, 200);
    return json.data.map(({ pid }) => pid);
  });
  const [first, ...others] = await Promise.all(texts);
  for (const other of others) assert.deepEqual(other, first);
});

test('a top that is not a plain whole number, or is repeated, gets 400, which names the parameter', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  for (const query of ['top=-1', 'top=1.5', 'top=1e3', 'top=ten', 'top=+1', 'top=%201', 'top=1&top=2']) {
    const { status, json } = await request<{ error: string }>('GET', `/api/processes?${query}`);
    assert.equal(status, 400, query);
    assert.match(json.error, /^top /, query);
  }
});

test('cpu is the CPU time used so far in seconds, and memoryMB is the working set in MiB', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['M'] } });
  const { json } = await request<{ data: ProcessRow[] }>('GET', '/api/processes?top=100000');
  const own = json.data.find(({ pid }) => pid === process.pid);
  const { user, system } = process.cpuUsage();
  assert.ok(own && Math.abs(own.cpu - (user + system) / 1e6) < 1, JSON.stringify(own));
  const rss = process.memoryUsage.rss() / 2 ** 20;
  assert.ok(Math.abs(own.memoryMB - rss) < rss / 4, `${own.memoryMB} ${rss}`);
});

test('GET /api/disks returns data with drive, totalGB, freeGB and usagePct', async (t) => {
  const { json } = await get<{ data: Record<string, number>[] }>(t, '/api/disks');
  assert.deepEqual(Object.keys(json), ['data']);
  for (const row of json.data) {
    assert.deepEqual(Object.keys(row), ['drive', 'totalGB', 'freeGB', 'usagePct']);
    const { totalGB = -1, freeGB = -1, usagePct = -1 } = row;
    assert.ok(hasDecimals(totalGB, 2) && hasDecimals(freeGB, 2) && hasDecimals(usagePct, 1));
    assert.ok(totalGB > 0 && freeGB >= 0 && freeGB <= totalGB && usagePct >= 0 && usagePct <= 100);
  }
});

test('the root file system is listed, each device is listed once, and memory file systems are not listed', async (t) => {
  const { json } = await get<{ data: { drive: string; totalGB: number }[] }>(t, '/api/disks');
  const drives = json.data.map(({ drive }) => drive);
  assert.equal(drives.filter((drive) => drive === '/').length, 1);
  for (const drive of ['/proc', '/sys', '/dev', '/dev/shm', '/run']) assert.equal(drives.includes(drive), false);
  assert.equal(new Set(drives).size, drives.length);
});
