import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createAccessKey } from '../../src/auth/access.ts';
import { listSilences } from '../silences/support/silences.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { findMissing } from './peer.ts';

const skip = findMissing('amtool');
const run = promisify(execFile);

/** Everything is readable only with a key, which amtool sends. */
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
    ...{ matchers, startsAt: '2036-01-31T08:30:00Z', endsAt: '2037-01-31T08:30:00Z' },
    ...{ createdBy: 'anna', comment: `${index}` },
  }));
  writeFileSync(file, JSON.stringify(silences));
  await amtool('silence', 'import', file);
  assert.equal((await listSilences(app)).total, 20);
});

test('amtool says why a silence is refused', { skip }, async (t) => {
  const { app, amtool } = await start(t);
  const refused = (...args: string[]) => amtool(...args).then(assert.fail, (error: { stderr: string }) => error.stderr);
  assert.match(await refused('silence', 'add', 'a=~(.{500}){2}', '-c', 'x'), /is too large: use fewer or smaller/);
  assert.match(await refused('silence', 'expire', '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'), /404/);
  assert.equal((await listSilences(app)).total, 0);
});
