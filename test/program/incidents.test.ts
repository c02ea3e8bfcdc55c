import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { startApp } from '../support/app.ts';
import { secret } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { type Running, runCommand, startProgram } from '../support/program.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';

/** Starts a server with two incidents. Returns functions that run commands with a key for incidents. */
const start = async (t: TestContext) => {
  const { key, entry } = createAccessKey('oncall', ['incidents:write']);
  const sender = createAccessKey('backup', ['alerts:write']);
  const server = await startApp(t, { settings: { access: 'login', keys: [entry, sender.entry] } });
  for (const message of ['disk is 91 % full', 'disk is 92 % full']) {
    await server.request('POST', '/api/alert', {
      token: sender.key,
      body: { source: 'backup', level: 'ERROR', message, hostname: 'web-1' },
    });
  }
  await server.request('POST', '/api/alert', {
    token: sender.key,
    body: { source: 'db', level: 'CRITICAL', message: 'replication \u001b[31mstopped', hostname: 'db-1' },
  });
  await waitUntil('both incidents are open', async () => (await listIncidents(server, key)).length === 2);
  const run = (args: string[], variables: Record<string, string> = {}) =>
    runCommand(args, { variables: { SIGNALBOX_URL: server.url, SIGNALBOX_KEY: key, ...variables } });
  return { server, key, senderKey: sender.key, run };
};

const listIncidents = async ({ request }: Pick<Running, 'request'>, token: string) =>
  (await request<{ data: Record<string, unknown>[] }>('GET', '/api/incidents', { token })).json.data;

test('incidents lists open incidents, the most severe first, without control characters of senders', async (t) => {
  const { run } = await start(t);
  const { code, stdout, stderr } = await run(['incidents']);
  assert.deepEqual([code, stderr], [0, '']);
  const [head = '', first = '', second = '', ...rest] = stdout.split('\n');
  assert.match(head, /^# +SEVERITY +STATE +SINCE +ALERTS +WHERE +INCIDENT$/);
  assert.match(first, /^2 +CRITICAL +open +\d+ \w+ +1 +db db-1 +replication/);
  assert.match(second, /^1 +ERROR +open +\d+ \w+ +2 +backup web-1 +disk is 92 % full$/);
  assert.deepEqual(rest, ['']);
  assert.ok(!stdout.includes('\u001b'));
  assert.match((await run(['incidents', '--level', 'WARNING'])).stdout, /^No open incidents\.\n$/);
});

test('a silenced incident is marked, acknowledged or not', async (t) => {
  const { run } = await start(t);
  const id = JSON.parse((await run(['silence', 'source=backup', '--json'])).stdout).id.slice(0, 13);
  await waitUntilPasses(async () => assert.match((await run(['incidents'])).stdout, /^1 +ERROR +open, silenced /m));
  assert.match((await run(['incidents'])).stdout, /^2 +CRITICAL +open +\d/m);
  await run(['ack', '1']);
  const { stdout } = await run(['incident', '1']);
  assert.match(stdout, /^1 +ERROR +the key oncall, silenced /m);
  assert.match(stdout, new RegExp(`^No notifications: silenced by ${id}\\.$`, 'm'));
});

test('with --json each incident is one object per line', async (t) => {
  const { run } = await start(t);
  const { stdout } = await run(['incidents', '--json', '--source', 'BACK*', '--search', 'DISK']);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.map(({ number, count, state }) => [number, count, state]),
    [[1, 2, 'open']],
  );
});

test('no list, page, report or JSON contains characters that control a terminal or turn the direction of text', async (t) => {
  const { run, server, senderKey } = await start(t);
  const evil = 'a\u007fb\u009b31mc\u202ed\u2066e\u2028f';
  const body = { source: evil, level: 'ERROR', message: evil, hostname: evil };
  assert.equal((await server.request('POST', '/api/alert', { token: senderKey, body })).status, 200);
  await waitUntilPasses(async () => assert.match((await run(['incidents'])).stdout, /^3 /m));
  for (const args of [
    ['incidents', '--json'],
    ['incidents'],
    ['incident', '3', '--json'],
    ['incident', '3'],
    ['incident', '3', '--report'],
    ['alerts', '--json', '--source', evil],
  ]) {
    const { code, stdout, stderr } = await run(args, { SIGNALBOX_KEY: '' }).then((open) =>
      open.code === 0 ? open : run(args),
    );
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout.replaceAll(/[\n\t]/g, ''), /[\p{Cc}\p{Cf}\u2028\u2029]/u, args.join(' '));
    if (args.includes('--json')) assert.ok(stdout.includes('\\u009b31mc\\u202ed'), stdout);
  }
});

test('ack acknowledges incidents, incident shows their timeline, and resolve resolves them', async (t) => {
  const { server, key, run } = await start(t);
  const taken = await run(['ack', '1', '2', '-m', 'on it', '--until', '2h']);
  assert.deepEqual([taken.code, taken.stderr], [0, '']);
  assert.match(taken.stdout, /^1 +ERROR +the key oncall /m);
  assert.match(taken.stdout, /^2 +CRITICAL +the key oncall /m);
  const shown = await run(['incident', '1']);
  assert.match(shown.stdout, /^Acknowledged until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$/m);
  assert.match(shown.stdout, /acknowledged +the key oncall +until .* on it$/m);
  const token = await server.login('admin');
  assert.equal((await server.request('POST', '/api/incidents/1/task', { token })).status, 201);
  assert.match((await run(['incident', '1'])).stdout, /^\S+ \S+ +task created +admin +task 1$/m);
  assert.match((await run(['incident', '1', '--report'])).stdout, /^# Incident #1: disk is 92 % full$/m);
  assert.equal((await run(['resolve', '#1', '2', '-m', 'fixed'])).code, 0);
  assert.deepEqual(await listIncidents(server, key), []);
});

test('a long name is cut between characters, and a comment of several lines is one line of the timeline', async (t) => {
  const { server, key, senderKey, run } = await start(t);
  await server.request('POST', '/api/alert', {
    token: senderKey,
    body: { source: `${'a'.repeat(26)}😀${'b'.repeat(9)}`, level: 'ERROR', message: 'long' },
  });
  await waitUntil('the incident is open', async () => (await listIncidents(server, key)).length === 3);
  assert.match((await run(['incidents'])).stdout, / a{26}… +long$/m);
  await run(['ack', '3', '-m', 'one\ntwo']);
  assert.match((await run(['incident', '3'])).stdout, /acknowledged +the key oncall +one two$/m);
});

test('an unknown incident, a missing key and an unreachable server have different messages and exit codes', async (t) => {
  const { run } = await start(t);
  const mixed = await run(['ack', '1', '77']);
  assert.equal(mixed.code, 1);
  assert.match(mixed.stderr, /^signalbox: #77: .*not found.*\n$/);
  assert.match(mixed.stdout, /^1 +ERROR/m);
  const refused = await run(['ack', '2'], { SIGNALBOX_KEY: '' });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /responded 401: Missing token; set SIGNALBOX_KEY to a key/);
  const away = await run(['incidents'], { SIGNALBOX_URL: `http://127.0.0.1:${await findFreePort()}` });
  assert.equal(away.code, 75);
  assert.match(away.stderr, /the connection was refused/);
});

/** Starts servers with a shared data directory and an incident to comment on. */
const startToComment = async (t: TestContext) => {
  const dataDir = join(createFolder(t), 'data');
  const variables = { SIGNALBOX_JWT_SECRET: secret };
  const token = signToken(createClaims());
  const open = async () => {
    const server = await startProgram(t, ['--data-dir', dataDir], { variables });
    const post = (path: string, body: object) => server.request('POST', path, { token, body });
    return {
      ...server,
      alert: () => post('/api/alert', { level: 'ERROR', message: 'disk is full' }),
      comment: async (comment: string) => (await post('/api/incidents/1/comment', { comment })).status,
      comments: async () => {
        const { json } = await server.request<{ timeline?: { comment: string | null }[] }>('GET', '/api/incidents/1');
        return json.timeline?.flatMap(({ comment }) => comment ?? []);
      },
    };
  };
  return { dataDir, open };
};

test('actions after a start without the log survive kill -9', async (t) => {
  const { dataDir, open } = await startToComment(t);
  const first = await open();
  await first.alert();
  for (const comment of ['a', 'b', 'c']) assert.equal(await first.comment(comment), 200);
  await first.stop();
  rmSync(join(dataDir, 'alerts.jsonl'));
  const second = await open();
  for (const comment of ['d', 'e']) assert.equal(await second.comment(comment), 200);
  await second.stop('SIGKILL');
  const third = await open();
  await waitUntilPasses(async () => assert.deepEqual(await third.comments(), ['a', 'b', 'c', 'd', 'e']));
});

test('actions in a log that is moved away while the server runs survive kill -9', async (t) => {
  const { dataDir, open } = await startToComment(t);
  const first = await open();
  await first.alert();
  assert.equal(await first.comment('a'), 200);
  renameSync(join(dataDir, 'alerts.jsonl'), join(dataDir, 'elsewhere'));
  assert.equal(await first.comment('b'), 200);
  const state = join(dataDir, 'alerts.incidents.state');
  await waitUntil('the state is stored', () => readFileSync(state, 'utf8').includes('"comment":"a"'));
  await first.stop('SIGKILL');
  const second = await open();
  await waitUntilPasses(async () => assert.deepEqual(await second.comments(), ['a', 'b']));
});

test('incident settings in hours and minutes can be flags and variables, with fractions', async (t) => {
  const server = await startProgram(t, ['--quiet-hours', '12', '--reopen-minutes', '0.5']);
  assert.equal((await server.request('GET', '/api/incidents')).status, 200);
  const { code, stderr } = await runCommand(['--quiet-hours', 'x'], {
    variables: { SIGNALBOX_REOPEN_MINUTES: '-0.5' },
  });
  assert.equal(code, 1);
  assert.match(stderr, /SIGNALBOX_REOPEN_MINUTES must be a number from 0 to 10080, not -0.5/);
  assert.match(stderr, /--quiet-hours must be a number from 0 to 8760, not "x"/);
});
