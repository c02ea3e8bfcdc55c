import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isRunning } from '../../../test/support/child-programs.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { runChild } from '../../host/child.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { openJournal } from '../../storage/journal/journal.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { createAudit } from './audit.ts';
import { createExecutor } from './executor.ts';
import { CommandFailure, type Runner } from './runner.ts';

const stays = new AbortController().signal;
const caller = { requestId: 'r', user: 'admin', role: 'Admin', remoteAddress: '::1' } as const;

/** Creates an executor with its own journal, or with the given `append`. */
const open = async (
  t: TestContext,
  run: Runner['run'],
  {
    timeoutSeconds = 60,
    ...changes
  }: { timeoutSeconds?: number; maxLineBytes?: number; append?: RecordLog['append'] } = {},
) => {
  const { maxLineBytes, ...methods } = changes;
  const options = { directory: createFolder(t), name: 'commands', ...(maxLineBytes && { maxLineBytes }) };
  const journal = await openJournal(options);
  t.after(() => journal.close());
  const executor = createExecutor({
    runner: { name: 'native', run },
    timeoutSeconds,
    audit: createAudit({ ...journal, ...methods }),
    clock: () => new Date(0),
    count: () => undefined,
  });
  const readEnds = async () => {
    const listing = await journal.listLast(100);
    const ends = [];
    for await (const { decision, exit, reason } of listing.records()) ends.push([decision, exit, reason]);
    await listing.close();
    return ends;
  };
  const execute = (client = stays, line = 'Get-Process') => executor.execute(line, caller, client);
  return { execute, close: executor.close, readEnds };
};

/** Creates a runner with programs that run for minutes, and the list of their process ids. */
const createSlowRun = (): { run: Runner['run']; pids: number[] } => {
  const pids: number[] = [];
  const run: Runner['run'] = async (_, signal) => {
    const onOutput = (piece: Buffer): boolean => pids.push(Number(piece)) > 0;
    await runChild({ program: '/bin/sh', args: ['-c', 'echo $$; exec sleep 300'], onOutput, signal });
    return { rows: [], truncated: false };
  };
  return { pids, run };
};

test('a result is cut at its limits', async (t) => {
  const { execute } = await open(t, async () => ({ rows: [{ Id: 1 }], truncated: true }));
  assert.deepEqual(await execute(), { rows: ['{"Id":1}'], truncated: true });
});

test('a command that exceeds the time limit fails and leaves no process', async (t) => {
  const { run, pids } = createSlowRun();
  const { execute } = await open(t, run, { timeoutSeconds: 0.3 });
  const failure = new CommandFailure('The command did not finish within 0.3 s', 'timed-out');
  await assert.rejects(execute(), failure);
  assert.deepEqual(pids.map(isRunning), [false]);
});

test('a client that disconnects ends its command, waiting or running', async (t) => {
  const { run, pids } = createSlowRun();
  const { execute } = await open(t, run);
  const client = new AbortController();
  const results = Array.from({ length: 6 }, () => execute(client.signal));
  const ended = Promise.allSettled(results);
  await waitUntil('four commands run', () => pids.length === 4);
  client.abort();
  for (const result of await ended) {
    assert.ok(result.status === 'rejected' && result.reason.message === 'The client has disconnected');
  }
  assert.deepEqual(pids.map(isRunning), [false, false, false, false]);
});

test('a command of a disconnected client is not run', async (t) => {
  const { execute } = await open(t, () => assert.fail('must not run'));
  const failure = new CommandFailure('The client has disconnected', 'abandoned');
  await assert.rejects(execute(AbortSignal.abort()), failure);
});

test('close ends running commands and resolves when they have ended', async (t) => {
  const { run, pids } = createSlowRun();
  const { execute, close } = await open(t, run);
  const ended = assert.rejects(execute(), new CommandFailure('The server is stopping', 'abandoned'));
  await waitUntil('a command runs', () => pids.length === 1);
  await close();
  assert.deepEqual(pids.map(isRunning), [false]);
  await ended;
});

/** Runs until aborted. */
const lasts: Runner['run'] = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('the audit records commands that time out and commands whose client disconnects', async (t) => {
  const { execute, readEnds } = await open(t, lasts, { timeoutSeconds: 0.05 });
  await assert.rejects(execute(), CommandFailure);
  await assert.rejects(execute(AbortSignal.timeout(1)), CommandFailure);
  assert.deepEqual(await readEnds(), [
    ['allowed', 'timed-out', 'The command did not finish within 0.05 s'],
    ['allowed', 'abandoned', 'The client has disconnected'],
  ]);
});

test('close resolves after the audit has recorded all running and waiting commands', async (t) => {
  const { execute, close, readEnds } = await open(t, lasts);
  const results = Array.from({ length: 20 }, () => execute());
  await assert.rejects(execute(), /Too many commands/);
  const ended = Promise.allSettled(results);
  await close();
  assert.deepEqual(await readEnds(), [
    ['refused', null, 'Too many commands are running; try again later'],
    ...Array(20).fill(['allowed', 'abandoned', 'The server is stopping']),
  ]);
  await ended;
});

test('the audit records an unexpected error without its internals', async (t) => {
  const { execute, readEnds } = await open(t, () => Promise.reject(new Error('internals')));
  await assert.rejects(execute(), /internals/);
  assert.deepEqual(await readEnds(), [['allowed', 'failed', 'Internal server error']]);
});

test('the audit records the cause of a command that was not sent because the database is unavailable', async (t) => {
  const failure = new StoreUnavailable('The database is unavailable');
  const { execute, readEnds } = await open(t, () => Promise.reject(failure));
  await assert.rejects(execute(), failure);
  assert.deepEqual(await readEnds(), [['refused', null, 'The database is unavailable']]);
});

const answer = async () => ({ rows: [], truncated: false });

test('a result is withheld if its audit record cannot be written', async (t) => {
  const { execute } = await open(t, answer, { maxLineBytes: 300 });
  await assert.rejects(execute(stays, `Get-Process ${'x'.repeat(100)}`), {
    status: 503,
    message: /^Commands cannot run while the audit cannot be written: a record must not exceed 300 bytes$/,
  });
});

test('only a failure of the journal is reported as an audit that cannot be written', async (t) => {
  const { execute } = await open(t, answer, { append: () => Promise.reject(new TypeError('bug')) });
  await assert.rejects(execute(), /^TypeError: bug$/);
});
