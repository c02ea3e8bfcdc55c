import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { findFreePort } from '../support/free-port.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { enrol, listenPlain, readHost, report } from './support/hosts.ts';

test('/metrics/hosts returns the readings of all hosts as OpenMetrics, for keys with metrics:read', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  for (const name of ['web-1', 'web-2']) await report(app, await enrol(app, token, name), name);
  assert.equal((await app.request('GET', '/metrics/hosts')).status, 401);
  const created = await app.request('POST', '/api/keys', { token, body: { name: 'prom', scopes: ['metrics:read'] } });
  const { status, text, headers } = await app.request('GET', '/metrics/hosts', {
    token: created.json['key'] as string,
  });
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^application\/openmetrics-text; version=1\.0\.0/);
  assert.match(text, /^# TYPE signalbox_remote_host_up gauge$/m);
  for (const name of ['web-1', 'web-2']) {
    assert.match(text, new RegExp(`^signalbox_remote_host_up\\{host="${name}"\\} 1$`, 'm'));
    assert.match(text, new RegExp(`^signalbox_remote_host_cpu_ratio\\{host="${name}"\\} 0\\.5$`, 'm'));
    assert.match(
      text,
      new RegExp(`^signalbox_remote_host_filesystem_used_bytes\\{host="${name}",mountpoint="/"\\} 10$`, 'm'),
    );
  }
  assert.ok(text.endsWith('# EOF\n'));
});

test('two disks with the same mount path on a host are one series', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const disks = [
    { mountPath: '/', used: 1, total: 2 },
    { mountPath: '/data', used: 10, total: 100 },
    { mountPath: '/data', used: 30, total: 300 },
  ];
  await report(app, await enrol(app, token, 'web-1'), 'web-1', { readings: { disks } });
  const created = await app.request('POST', '/api/keys', { token, body: { name: 'prom', scopes: ['metrics:read'] } });
  const { text } = await app.request('GET', '/metrics/hosts', { token: created.json['key'] as string });
  const used = text.split('\n').filter((line) => line.startsWith('signalbox_remote_host_filesystem_used_bytes{'));
  assert.deepEqual(
    used.map((line) => line.slice(line.indexOf('mountpoint'))),
    ['mountpoint="/"} 1', 'mountpoint="/data"} 30'],
  );
});

test('a machine with a scraped node_exporter is a host without an agent', async (t) => {
  const exporter = createServer((_request, response) =>
    response.end(
      'node_memory_MemTotal_bytes 4e9\nnode_memory_MemAvailable_bytes 1e9\nnode_uname_info{nodename="db"} 1\n',
    ),
  );
  const url = `${await listenPlain(t, exporter)}/metrics`;
  const app = await startApp(t, { settings: { hosts: [{ name: 'db-1', url, tags: ['db'] }] } });
  const token = await app.login('admin');
  await waitUntil('the host is up', async () => (await readHost(app, token, 'db-1')).state === 'up');
  const host = await readHost(app, token, 'db-1');
  assert.deepEqual([host.readings?.memoryUsed, host.hostname, host.tags], [3e9, 'db', ['db']]);
  assert.equal((await app.request('DELETE', '/api/hosts/db-1', { token })).status, 409);
});

const hasExporter = spawnSync('prometheus-node-exporter', ['--version']).error === undefined;

test("metrics of Debian's node_exporter are read", {
  skip: !hasExporter && 'prometheus-node-exporter is not installed',
}, async (t) => {
  const port = await findFreePort();
  const child = spawn('prometheus-node-exporter', [`--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
  atEnd(t, () => child.kill('SIGKILL'));
  const app = await startApp(t, { settings: { hosts: [{ name: 'db-1', url: `http://127.0.0.1:${port}/metrics` }] } });
  const token = await app.login('admin');
  await waitUntil(
    'there are rates',
    async () => typeof (await readHost(app, token, 'db-1')).readings?.cpu === 'number',
  );
  const { readings } = await readHost(app, token, 'db-1');
  assert.ok((readings?.memoryTotal ?? 0) > 1e8 && (readings?.disks?.length ?? 0) > 0, JSON.stringify(readings));
});
