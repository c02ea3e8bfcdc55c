import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createAccessKey } from '../../../src/auth/access.ts';
import { listSilences } from '../../silences/support/silences.ts';
import { sendAlert } from '../../support/alerts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createClient } from '../../support/client.ts';
import { createFolder } from '../../support/folder.ts';
import { atEnd } from '../../support/scope.ts';
import { waitUntilPasses } from '../../support/wait.ts';
import { findMissing, findPort, startPeer } from './peer.ts';

const skip = findMissing('amtool');
const skipPeer = findMissing('prometheus-alertmanager');
const run = promisify(execFile);

type Asked = Pick<TestApp, 'request'>;

/** Starts a server on which everything requires a key. amtool sends the key. */
const start = async (t: TestContext) => {
  const { key, entry } = createAccessKey('oncall', ['incidents:write']);
  const app = await startApp(t, { settings: { keys: [entry], access: 'login' } });
  const token = await app.login('admin');
  const config = join(app.folder, 'http.yml');
  writeFileSync(config, `authorization: { credentials: ${key} }\n`);
  const amtool = async (...args: string[]): Promise<string> => {
    const flags = [`--alertmanager.url=${app.url}`, `--http.config.file=${config}`];
    const { stdout } = await run('amtool', [...args, ...flags], { env: { ...process.env, HOME: app.folder } });
    return stdout.trim();
  };
  const request = (async (method, path, options) =>
    app.request(method, path, { token, ...options })) as typeof app.request;
  return { app: { ...app, request }, amtool, config };
};

const startAlertmanager = async (t: TestContext): Promise<string> => {
  const folder = createFolder(t);
  const url = `http://127.0.0.1:${await findPort()}`;
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, 'route: { receiver: none }\nreceivers: [{ name: none }]\n');
  const args = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=${new URL(url).host}`];
  await startPeer(t, 'prometheus-alertmanager', [...args, '--cluster.listen-address='], `${url}/-/ready`);
  return url;
};

test('amtool queries alerts, and adds, changes, queries and ends silences', { skip }, async (t) => {
  const { app, amtool } = await start(t);
  await sendAlert(app, { source: 'backup', level: 'CRITICAL', message: 'disk is full', hostname: 'db-1' });
  await sendAlert(app, { source: 'api', level: 'ERROR', message: 'slow', hostname: 'web-1' });
  await waitUntilPasses(async () => {
    const lines = (await amtool('alert', 'query')).split('\n');
    assert.equal(lines.length, 3);
  });
  assert.match(
    await amtool('alert', 'query', 'alertname=~back.*', 'severity=critical'),
    /\nbackup .* disk is full +active/,
  );
  assert.doesNotMatch(await amtool('alert', 'query', 'alertname!=backup'), /\nbackup/);
  const id = await amtool('silence', 'add', 'alertname=backup', 'instance=~db-[0-9]+', '-c', 'new disk', '-d', '2h');
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.doesNotMatch(await amtool('alert', 'query'), /backup/);
  assert.match(await amtool('alert', 'query', '--silenced'), /backup .* suppressed/);
  assert.match(await amtool('silence', 'query', 'alertname=backup'), new RegExp(`${id} .*new disk`));
  assert.match(await amtool('silence', 'update', id, '-c', 'still', '-d', '3h'), new RegExp(`${id} .*still`));
  assert.equal(await amtool('silence', 'query', '-q'), id);
  await amtool('silence', 'expire', id);
  assert.equal(await amtool('silence', 'query', '-q'), '');
  assert.equal(await amtool('silence', 'query', '-q', '--expired', '--within', '1h'), id);
  assert.match(await amtool('alert', 'query'), /backup/);
  const [silence] = (await listSilences(app)).data;
  assert.deepEqual([silence?.id, silence?.state, silence?.createdBy], [id, 'expired', 'key:oncall']);
});

test('amtool shows the configuration and imports silences', { skip }, async (t) => {
  const { app, amtool } = await start(t);
  assert.match(await amtool('config', 'show'), /receiver: signalbox/);
  assert.match(await amtool('cluster', 'show'), /disabled/);
  const file = join(app.folder, 'silences.json');
  const matchers = [{ name: 'a', value: 'b', isRegex: false, isEqual: true }];
  const silences = Array.from({ length: 20 }, (_, index) => ({
    matchers,
    startsAt: '2036-01-31T08:30:00Z',
    endsAt: '2037-01-31T08:30:00Z',
    createdBy: 'anna',
    comment: `${index}`,
  }));
  writeFileSync(file, JSON.stringify(silences));
  await amtool('silence', 'import', file);
  assert.equal((await listSilences(app)).total, 20);
  const exported = await amtool('silence', 'query', '-o', 'json');
  const other = await start(t);
  writeFileSync(file, exported);
  await other.amtool('silence', 'import', file);
  assert.equal((await listSilences(other.app)).total, 20);
});

test('silences and filters mean the same as in Alertmanager', { skip: skipPeer }, async (t) => {
  const { app } = await start(t);
  const peer = createClient(await startAlertmanager(t));
  atEnd(t, () => peer.close());
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const alerts = [{ alertname: 'Disk', team: 'db' }, { alertname: 'Slow', team: 'web' }, { alertname: 'Other' }];
  const headers = { 'content-type': 'application/json' };
  const body = alerts.map((labels) => ({ labels: { ...labels, severity: 'error' }, endsAt }));
  for (const one of [app, peer]) {
    assert.equal((await one.request('POST', '/api/v2/alerts', { body, headers })).status, 200);
  }
  const list = async (one: Asked, query: [string, string][]): Promise<string[]> => {
    const path = `/api/v2/alerts?${new URLSearchParams(query)}`;
    const { json } = await one.request<{ labels: Record<string, string> }[]>('GET', path);
    return json.map(({ labels }) => labels['alertname'] ?? '').sort();
  };
  for (const one of [app, peer]) {
    await waitUntilPasses(async () => assert.deepEqual(await list(one, []), ['Disk', 'Other', 'Slow']));
  }
  const filters = [
    'team=~".*"',
    'team=~".+"',
    'team!~".+"',
    'team=~"(db|)"',
    'team!=db',
    'team=""',
    'team!=""',
    'team=~""',
    'none!~"x"',
  ];
  for (const filter of filters)
    assert.deepEqual(await list(app, [['filter', filter]]), await list(peer, [['filter', filter]]), filter);
  const equal = { isRegex: false, isEqual: true };
  const silences = [
    [{ name: 'team', value: 'db', isRegex: false, isEqual: false }],
    [{ name: 'team', value: 'db|web', isRegex: true, isEqual: false }],
    [{ name: 'team', value: '', isRegex: false, isEqual: false }],
    [{ name: 'team', value: '.*', isRegex: true, isEqual: false }],
    [{ ...equal, name: 'team', value: '.*', isRegex: true }],
    [{ ...equal, name: 'team', value: '' }],
    [
      { ...equal, name: 'team', value: '' },
      { name: 'alertname', value: 'Disk', isRegex: false, isEqual: false },
    ],
  ];
  for (const matchers of silences) {
    const silence = async (one: Asked): Promise<unknown> => {
      const given = { matchers, startsAt: new Date().toISOString(), endsAt, createdBy: 'anna', comment: 'x' };
      const { status, json } = await one.request<{ silenceID?: string }>('POST', '/api/v2/silences', {
        body: given,
        headers,
      });
      if (status !== 200) return status;
      const quiet = await list(one, [['active', 'false']]);
      assert.equal((await one.request('DELETE', `/api/v2/silence/${json.silenceID}`)).status, 200);
      return quiet;
    };
    assert.deepEqual(await silence(app), await silence(peer), JSON.stringify(matchers));
  }
  const unknown = { id: '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56', matchers: [{ ...equal, name: 'a', value: 'b' }] };
  const given = { ...unknown, startsAt: new Date().toISOString(), endsAt, createdBy: 'anna', comment: 'x' };
  for (const one of [app, peer]) {
    const { status, json } = await one.request('POST', '/api/v2/silences', { body: given, headers });
    assert.deepEqual([status, typeof json], [404, 'string']);
  }
});

test('amtool shows the reason why a silence is refused', { skip }, async (t) => {
  const { app, amtool } = await start(t);
  const refused = (...args: string[]) => amtool(...args).then(assert.fail, (error: { stderr: string }) => error.stderr);
  assert.match(await refused('silence', 'add', 'a=~(.{500}){2}', '-c', 'x'), /is too large: use fewer or smaller/);
  assert.match(await refused('silence', 'expire', '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'), /404/);
  assert.equal((await listSilences(app)).total, 0);
});
