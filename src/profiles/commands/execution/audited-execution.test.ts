import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { openJournal } from '../../../storage/journal/journal.ts';
import { createAudit } from '../audit.ts';
import { createAuditedExecution } from './audited-execution.ts';
import { createExecutor } from './executor.ts';
import { CommandFailure, type Runner } from './runner.ts';

const caller = { requestId: 'r', user: 'admin', role: 'Admin', remoteAddress: '::1' } as const;
const stays = new AbortController().signal;

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
