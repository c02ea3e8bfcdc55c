import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { notReloaded, startReloadable } from '../support/reload.ts';
import { waitUntil } from '../support/wait.ts';

const start = async (t: TestContext, settings: object) => {
  const program = await startReloadable(t, settings);
  const listRequests = () =>
    program.output.stderr
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as { path: string; ip: string });
  return { ...program, listRequests };
};

test('on SIGHUP the names in allowedHosts change, also for requests on open connections', async (t) => {
  const { request, reload } = await start(t, { allowedHosts: ['one.example'] });
  const statusOf = async (host: string) => (await request('GET', '/health', { headers: { host } })).status;
  const hosts = ['one.example', 'two.example', 'localhost'];
  const statuses = async () => Promise.all(hosts.map(statusOf));
  assert.deepEqual(await statuses(), [200, 403, 200]);
  await reload({ allowedHosts: ['two.example'] });
  assert.deepEqual(await statuses(), [403, 200, 200]);
});

test('on SIGHUP the log level and the trusted proxies change', async (t) => {
  const { request, reload, listRequests } = await start(t, {});
  const headers = { 'x-forwarded-for': '192.0.2.7' };
  const get = (path: string) => request('GET', path, { headers });
  await get('/api/disks?before');
  await reload({ logLevel: 'debug' });
  await get('/api/disks');
  await waitUntil('the request is logged', () => listRequests().length === 1);
  assert.deepEqual(listRequests()[0]?.ip, '127.0.0.1');
  await reload({ logLevel: 'debug', trustProxy: ['127.0.0.1'] });
  await get('/nowhere');
  await waitUntil('the request is logged', () => listRequests().length === 2);
  assert.deepEqual([listRequests()[1]?.path, listRequests()[1]?.ip], ['/nowhere', '192.0.2.7']);
  await reload({});
  await get('/api/disks');
  await reload({ logLevel: 'debug' });
  await get('/health');
  await waitUntil('the request is logged', () => listRequests().length === 3);
  assert.deepEqual([listRequests()[2]?.path, listRequests()[2]?.ip], ['/health', '127.0.0.1']);
});

test('on SIGHUP a proxy that makes open routes reachable causes a warning, and so does a change of access', async (t) => {
  const { request, reload, output } = await start(t, {});
  const readWarning = async () => (await request('GET', '/openapi.json')).json['x-signalbox-warning'];
  assert.equal(await readWarning(), undefined);
  await reload({ trustProxy: ['127.0.0.1'] });
  assert.match(String(await readWarning()), /trustProxy names a proxy, and \d+ paths need no token/);
  await reload({ trustProxy: ['127.0.0.1'] });
  assert.equal(output.stdout.split('paths need no token').length, 2);
  await reload({ access: 'login' });
  assert.equal(await readWarning(), undefined);
  assert.match(output.stdout, /Warning: access has changed\. Restart the server to apply it\.\n$/);
});

test('on SIGHUP a proxy that is not an address changes nothing', async (t) => {
  const { request, reload } = await start(t, { allowedHosts: ['one.example'] });
  await reload({ allowedHosts: ['two.example'], trustProxy: ['everyone'] }, notReloaded);
  assert.equal((await request('GET', '/health', { headers: { host: 'one.example' } })).status, 200);
});

test('the debug log does not contain a key in a path', async (t) => {
  const { request, output, listRequests } = await start(t, { logLevel: 'debug' });
  await request('GET', `/api/alert/sbk_${'PathKey'.repeat(6)}0`);
  await waitUntil('the request is logged', () => listRequests().length === 1);
  assert.doesNotMatch(output.stderr, /PathKey/);
  assert.equal(listRequests()[0]?.path, '/api/alert/(key)');
});
