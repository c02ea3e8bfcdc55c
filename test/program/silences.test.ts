import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { startApp } from '../support/app.ts';
import { runCommand } from '../support/program.ts';

/** Starts a server. Returns functions that run commands with a key for silences. */
const start = async (t: TestContext) => {
  const { key, entry } = createAccessKey('oncall', ['incidents:write']);
  const server = await startApp(t, { settings: { access: 'login', keys: [entry] } });
  return (args: string[], variables: Record<string, string> = {}) =>
    runCommand(args, { variables: { SIGNALBOX_URL: server.url, SIGNALBOX_KEY: key, ...variables } });
};

test('silence creates a silence, silences lists it, and --expire ends it', async (t) => {
  const run = await start(t);
  assert.equal((await run(['silences'])).stdout, 'No current silences.\n');
  const created = await run(['silence', 'source=backup*', 'team=db', '--for', '2h', '-m', 'new\ndisk']);
  assert.deepEqual([created.code, created.stderr], [0, '']);
  const [head = '', row = ''] = created.stdout.split('\n');
  assert.match(head, /^ID +STATE +FROM +UNTIL +BY +SILENCES$/);
  assert.match(
    row,
    /^[0-9a-f]{8}-[0-9a-f]{4} +active +\S+ \S+ +\S+ \S+ +key:oncall +source=backup\* team=db {2}new disk$/,
  );
  const json = await run(['silence', 'text=*full*', '--until', '2036-01-31T08:30:00Z', '--json']);
  const silence = JSON.parse(json.stdout);
  assert.deepEqual([silence.match, silence.endsAt], [{ text: '*full*' }, '2036-01-31T08:30:00.000Z']);
  assert.equal((await run(['silences'])).stdout.trim().split('\n').length, 3);
  const ended = await run(['silence', '--expire', row.slice(0, 13)]);
  assert.match(ended.stdout, / expired /);
  assert.equal((await run(['silences', '--json'])).stdout, `${JSON.stringify(silence)}\n`);
  assert.match((await run(['silences', '--state', 'expired'])).stdout, / expired .* source=backup\*/);
});

test('silence --from sets a later start, and --for counts from then', async (t) => {
  const run = await start(t);
  for (const [flags, hours] of [
    [['--from', '2h', '--for', '1h'], 1],
    [['--from', '2h'], 1],
    [['--from', '2h', '--until', '5h'], 3],
    [['--from', '2036-01-31T08:00:00Z', '--until', '2036-01-31T10:00:00Z'], 2],
  ] as const) {
    const { code, stdout, stderr } = await run(['silence', 'source=a', ...flags, '--json']);
    assert.equal(code, 0, stderr);
    const { state, startsAt, endsAt } = JSON.parse(stdout) as Record<string, string>;
    assert.equal(state, 'pending');
    const length = Date.parse(endsAt ?? '') - Date.parse(startsAt ?? '');
    assert.equal(Math.round(length / 3_600_000), hours, flags.join(' '));
  }
  const windows = ['--schedule', '0 2 * * 6', '--for', '90m', '--from', '2036-01-31T08:00:00Z'];
  const { stdout } = await run(['silence', 'source=a', ...windows, '--json']);
  assert.equal(JSON.parse(stdout).startsAt, '2036-01-31T08:00:00.000Z');
});

test('silence --schedule creates a maintenance window', async (t) => {
  const run = await start(t);
  const flags = ['--schedule', '0 2 * * 6', '--for', '90m', '--zone', 'Europe/Berlin'];
  const created = await run(['silence', 'hostname=db-*', ...flags]);
  assert.match(
    created.stdout,
    / (?:pending|active) +\S+ \S+ +\S+ \S+ +key:oncall +hostname=db-\* {2}\(0 2 \* \* 6, 90 min\)\n$/,
  );
});

test('each kind of problem has a message and an exit code', async (t) => {
  const run = await start(t);
  const unknown = await run(['silence', '--expire', '0000']);
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'signalbox: there is no silence 0000\n']);
  const refused = await run(['silence', 'level=warn']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /responded 400: match.level must match one of CRITICAL/);
  const missing = await run(['silence', 'source=a'], { SIGNALBOX_KEY: '' });
  assert.match(missing.stderr, /responded 401: Missing token; set SIGNALBOX_KEY/);
});
