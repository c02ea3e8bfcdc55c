import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isRunning } from '../../../../test/support/child-programs.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { openJournal } from '../../../storage/journal/journal.ts';
import { createAudit } from '../audit.ts';
import type { ParsedCommand } from '../policy/policy.ts';
import { runChild } from './child.ts';
import { createAuditedExecution, createExecutor } from './executor.ts';
import { CommandFailure, type Runner } from './runner.ts';

const command: ParsedCommand = { name: 'Get-Process', parameters: {} };
const stays = new AbortController().signal;

/** Runs programs that would last for minutes; `pids` are their process ids. */
const createSlowRunner = (): Runner & { pids: number[] } => {
  const pids: number[] = [];
  const run: Runner['run'] = async (_, signal) => {
    const onOutput = (piece: Buffer): boolean => pids.push(Number(piece)) > 0;
    await runChild({ program: '/bin/sh', args: ['-c', 'echo $$; exec sleep 300'], onOutput, signal });
    return { rows: [], truncated: false };
  };
  return { name: 'native', pids, run };
};

test('a result is cut at its limits', async () => {
  const runner: Runner = { name: 'native', run: async () => ({ rows: [{ Id: 1 }], truncated: true }) };
  const executor = createExecutor({ runner, timeoutSeconds: 10 });
  assert.deepEqual(await executor.execute(command, stays), { rows: ['{"Id":1}'], truncated: true });
});

test('a command that exceeds the time limit fails and leaves no process', async () => {
  const runner = createSlowRunner();
  const executor = createExecutor({ runner, timeoutSeconds: 0.3 });
  const failure = new CommandFailure('The command did not finish within 0.3 s', 'timed-out');
  await assert.rejects(executor.execute(command, stays), failure);
  assert.deepEqual(runner.pids.map(isRunning), [false]);
});

test('a client that disconnects ends its command, waiting or running', async () => {
  const runner = createSlowRunner();
  const executor = createExecutor({ runner, timeoutSeconds: 60 });
  const client = new AbortController();
  const results = Array.from({ length: 6 }, () => executor.execute(command, client.signal));
  const ended = Promise.allSettled(results);
  await waitUntil('four commands run', () => runner.pids.length === 4);
  client.abort();
  for (const result of await ended) {
    assert.ok(result.status === 'rejected' && result.reason.message === 'The client has disconnected');
  }
  assert.deepEqual(runner.pids.map(isRunning), [false, false, false, false]);
});

test('a command whose client has already gone is not run', async () => {
  const runner: Runner = { name: 'native', run: () => assert.fail('must not run') };
  const executor = createExecutor({ runner, timeoutSeconds: 60 });
  const failure = new CommandFailure('The client has disconnected', 'abandoned');
  await assert.rejects(executor.execute(command, AbortSignal.abort()), failure);
});

test('close ends running commands and resolves when they have ended', async () => {
  const runner = createSlowRunner();
  const executor = createExecutor({ runner, timeoutSeconds: 60 });
  const ended = assert.rejects(
    executor.execute(command, stays),
    new CommandFailure('The server is stopping', 'abandoned'),
  );
  await waitUntil('a command runs', () => runner.pids.length === 1);
  await executor.close();
  assert.deepEqual(runner.pids.map(isRunning), [false]);
  await ended;
});

const caller = { requestId: 'r', user: 'admin', role: 'Admin', remoteAddress: '::1' } as const;

const open = async (t: TestContext, run: Runner['run'], timeoutSeconds = 60) => {
  const journal = await openJournal({ directory: createFolder(t), name: 'commands' });
  t.after(() => journal.close());
  const executor = createExecutor({ runner: { name: 'native', run }, timeoutSeconds });
  const execution = createAuditedExecution({
    count: () => undefined,
    executor,
    audit: createAudit(journal),
    clock: () => new Date(0),
  });
  const readEnds = async () => {
    const listing = await journal.listLast(100);
    const ends = [];
    for await (const { decision, exit, reason } of listing.records()) ends.push([decision, exit, reason]);
    await listing.close();
    return ends;
  };
  return { execution, readEnds };
};

/** Runs until it is aborted. */
const lasts: Runner['run'] = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('the audit records commands that time out and commands whose client disconnects', async (t) => {
  const { execution, readEnds } = await open(t, lasts, 0.05);
  await assert.rejects(execution.execute('Get-Process', caller, stays), CommandFailure);
  const gone = AbortSignal.timeout(1);
  await assert.rejects(execution.execute('Get-Process', caller, gone), CommandFailure);
  assert.deepEqual(await readEnds(), [
    ['allowed', 'timed-out', 'The command did not finish within 0.05 s'],
    ['allowed', 'abandoned', 'The client has disconnected'],
  ]);
});

test('close resolves after the audit has recorded all running and waiting commands', async (t) => {
  const { execution, readEnds } = await open(t, lasts);
  const results = Array.from({ length: 20 }, () => execution.execute('Get-Process', caller, stays));
  await assert.rejects(execution.execute('Get-Process', caller, stays), /Too many commands/);
  const ended = Promise.allSettled(results);
  await execution.close();
  assert.deepEqual(await readEnds(), [
    ['refused', null, 'Too many commands are running; try again later'],
    ...Array(20).fill(['allowed', 'abandoned', 'The server is stopping']),
  ]);
  await ended;
});

test('the audit records an unexpected error without its internals', async (t) => {
  const { execution, readEnds } = await open(t, () => Promise.reject(new Error('internals')));
  await assert.rejects(execution.execute('Get-Process', caller, stays), /internals/);
  assert.deepEqual(await readEnds(), [['allowed', 'failed', 'Internal server error']]);
});

test('a result is withheld if its audit record cannot be written', async (t) => {
  const journal = await openJournal({ directory: createFolder(t), name: 'commands', maxLineBytes: 300 });
  t.after(() => journal.close());
  const run = async () => ({ rows: [], truncated: false });
  const executor = createExecutor({ runner: { name: 'native', run }, timeoutSeconds: 60 });
  const audit = createAudit(journal);
  const execution = createAuditedExecution({ executor, audit, clock: () => new Date(0), count: () => undefined });
  await assert.rejects(execution.execute(`Get-Process ${'x'.repeat(100)}`, caller, stays), {
    status: 503,
    message: /^Commands cannot run while the audit cannot be written: a record's line is at most 300 bytes$/,
  });
});

test('only a failure of the journal is reported as an audit that cannot be written', async (t) => {
  const journal = await openJournal({ directory: createFolder(t), name: 'commands' });
  t.after(() => journal.close());
  const run = async () => ({ rows: [], truncated: false });
  const executor = createExecutor({ runner: { name: 'native', run }, timeoutSeconds: 60 });
  const audit = createAudit({ ...journal, append: () => Promise.reject(new TypeError('bug')) });
  const execution = createAuditedExecution({ executor, audit, clock: () => new Date(0), count: () => undefined });
  await assert.rejects(execution.execute('Get-Process', caller, stays), /^TypeError: bug$/);
});
