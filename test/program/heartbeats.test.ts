import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { createHeartbeat, listRuns, readHeartbeat } from '../heartbeats/support/heartbeats.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { runCommand } from '../support/program.ts';

const node = process.execPath;
const script = (text: string): string[] => ['--', node, '-e', text];

test('run --heartbeat sends start, exit code, duration and the end of the output, and returns the exit code', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job', { maxRunMinutes: 5 });
  const args = ['run', '--url', app.url, '--heartbeat', uuid];
  const good = await runCommand([...args, ...script('console.log("412 files")')]);
  assert.deepEqual([good.code, good.stdout, good.stderr], [0, '412 files\n', '']);
  const bad = await runCommand([...args, ...script('console.error("no space"); process.exitCode = 7')]);
  assert.deepEqual([bad.code, bad.stderr], [7, 'no space\n']);
  const [second, first] = await listRuns(app, 'job');
  assert.deepEqual([first?.result, first?.exitCode, second?.result, second?.exitCode], ['success', 0, 'failure', 7]);
  for (const run of [first, second]) assert.ok(run?.durationMs !== null);
  assert.match(first?.output ?? '', /^node succeeded after \d s:\n412 files$/);
  assert.match(second?.output ?? '', /^node failed with exit code 7 after \d s:\nno space$/);
  assert.equal((await readHeartbeat(app, 'job')).state, 'down');
});

test('run --heartbeat runs the command while the server is unreachable, and the next run delivers the result', async (t) => {
  const state = createFolder(t);
  const variables = { XDG_STATE_HOME: state };
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  const port = await findFreePort();
  const away = `http://127.0.0.1:${port}`;
  const args = ['--retry-for', '0', '--heartbeat', uuid];
  const ended = await runCommand(['run', '--url', away, ...args, ...script('process.exitCode = 3')], { variables });
  assert.equal(ended.code, 3);
  assert.match(ended.stderr, /the ping was not sent: .*refused; the next run retries/);
  assert.ok(!ended.stderr.includes(uuid));
  const [file = ''] = readdirSync(join(state, 'signalbox', 'pings'));
  assert.match(readFileSync(join(state, 'signalbox', 'pings', file), 'utf8'), new RegExp(uuid));
  await app.close();
  const again = await startApp(t, { settings: { dataDir: `${app.folder}/data`, port } });
  const target = new URL(again.url);
  const kept = JSON.parse(readFileSync(join(state, 'signalbox', 'pings', file), 'utf8'));
  writeFileSync(join(state, 'signalbox', 'pings', file), JSON.stringify({ ...kept, url: target.href }));
  const next = await runCommand(['run', '--url', again.url, ...args, ...script('')], { variables });
  assert.deepEqual([next.code, next.stderr], [0, '']);
  const runs = await listRuns(again, 'job');
  assert.deepEqual(
    runs.map(({ result, exitCode }) => [result, exitCode]),
    [
      ['success', 0],
      ['failure', 3],
    ],
  );
  assert.match(runs[1]?.output ?? '', /\(sent late; happened at /);
  assert.deepEqual(readdirSync(join(state, 'signalbox', 'pings')), []);
});

test("run --heartbeat shows the server's refusal without the address, and the exit code stays", async (t) => {
  const app = await startApp(t);
  const uuid = '6a1f3a0e-52d4-4be0-9d2e-0d5b5a1f7c11';
  const ended = await runCommand(['run', '--url', app.url, '--heartbeat', uuid, ...script('')]);
  assert.equal(ended.code, 0);
  assert.match(ended.stderr, /responded 404: There is no heartbeat at this address/);
  assert.ok(!ended.stderr.includes(uuid));
});

test('run --heartbeat accepts the name of a heartbeat together with a key', async (t) => {
  const { entry, key } = createAccessKey('cron', ['heartbeats:write']);
  const app = await startApp(t, { settings: { keys: [entry] } });
  await createHeartbeat(app, await app.login('admin'), 'job');
  const args = ['run', '--url', app.url, '--heartbeat', 'job', ...script('')];
  const refused = await runCommand(args);
  assert.equal(refused.code, 0);
  assert.match(refused.stderr, /responded 401/);
  const { code, stderr } = await runCommand(args, { variables: { SIGNALBOX_KEY: key } });
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal((await readHeartbeat(app, 'job')).lastRun?.exitCode, 0);
});

test('signalbox heartbeats lists heartbeats as a table, or as JSON', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job', { description: 'nightly dump' });
  await createHeartbeat(app, await app.login('admin'), 'other');
  assert.equal((await fetch(`${app.url}/ping/${uuid}/3`)).status, 200);
  const { code, stdout } = await runCommand(['heartbeats', '--url', app.url]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^NAME +STATE +LAST +DUE +RUN +DESCRIPTION\njob +down .*failure \(3\) +nightly dump\nother +new +\d{4}-\S+ \S+\n$/,
  );
  const json = await runCommand(['heartbeats', '--json', '--url', app.url]);
  assert.deepEqual(
    json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name),
    ['job', 'other'],
  );
});
