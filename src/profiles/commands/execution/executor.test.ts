import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRunning } from '../../../../test/support/child-programs.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import type { ParsedCommand } from '../policy/policy.ts';
import { runChild } from './child.ts';
import { createExecutor } from './executor.ts';
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
