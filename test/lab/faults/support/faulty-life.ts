import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { waitUntil } from '../../../support/wait.ts';
import type { CallFault } from './call-faults.ts';
import { startClients } from './clients.ts';
import type { Verdict } from './compare.ts';
import { coverageCalls, readCoverage } from './coverage.ts';
import type { Kept, Operation } from './kept.ts';
import { killServer } from './kill.ts';
import { sendOne } from './send.ts';
import { type FaultServer, startServer } from './server.ts';
import { createTracing, listLogPaths, type Moment, readTrace } from './strace.ts';

const clientCount = 4;
const recordsPerClient = 12;
/** Content of the log on startup: a handwritten line and an incomplete line. */
const remains = '{"message":"by hand"}\n{"timestamp":"2026-11-21T12:00:00","source":"';

/**
 * Range of failing calls in strace's format, counted from 1. `lasts` means that all calls after the first also fail.
 */
export interface CallRange {
  when: string;
  lasts: boolean;
}

export interface Outcome {
  /** True if a call failed. */
  isHit: boolean;
  verdict: Verdict;
  /** Number of records that were acknowledged before they were on disk. */
  wrong: number;
}

/** Runs a server with failing calls under load, kills it, and starts a second server without faults on its log. */
export const runWithFaults = async (
  folder: string,
  kept: Kept,
  fault: CallFault,
  range: CallRange,
): Promise<Outcome> => {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, `${kept.log}.jsonl`), remains);
  const trace = join(folder, 'trace');
  let refusal = '';
  const server = await startServer({
    dataDir,
    kept,
    flags: kept.smallSegments,
    onRefusal: (stderr) => {
      refusal = stderr;
    },
    ...createFaultTracing(fault, range, listLogPaths(dataDir, kept.log), trace),
  });
  if (!server) assert.match(refusal, /^(\{.*\}\n)*signalbox: dataDir: [^\n]+\n$/);
  const hit = () => isHit(fault, readTrace(trace));
  const sent = server ? await serve(server, kept, { fault, range, hit }) : [];
  const last = await storeAfterRestart(dataDir, kept);
  return {
    isHit: hit(),
    verdict: await kept.judge(dataDir, [...sent, [last]]),
    wrong: fault.isOnPaths ? 0 : readCoverage(readTrace(trace), kept).uncovered.length,
  };
};

const createFaultTracing = (fault: CallFault, { when }: CallRange, paths: readonly string[], output: string) => {
  const { calls, effect, isOnPaths, also = [] } = fault;
  const injections = [`${calls.join(',')}:${effect}:when=${when}`, ...also];
  const injected = injections.flatMap((injection) => injection.split(':', 1));
  return createTracing({
    calls: isOnPaths ? injected : [...coverageCalls, ...injected],
    injections,
    // The directory is synced, too.
    paths: isOnPaths ? [dirname(paths[0] ?? ''), ...paths] : [],
    output,
  });
};

const isHit = ({ calls }: CallFault, moments: readonly Moment[]): boolean => {
  const names = calls.map((name) => name.replace('?', ''));
  return moments.some(({ call, isInjected }) => isInjected && names.includes(call));
};

interface Faulty {
  fault: CallFault;
  range: CallRange;
  hit(): boolean;
}

/** Runs clients until they have sent their records. Resolves to their requests. */
const serve = async (server: FaultServer, kept: Kept, { fault, range, hit }: Faulty): Promise<Operation[][]> => {
  const { url } = server;
  const clients = startClients(url, { kept, tag: 'client', count: clientCount, limit: recordsPerClient });
  let afterwards: Operation[][] = [];
  const later: Operation[] = [];
  const store = () => tryToStore(url, kept, later);
  try {
    await clients.done;
    const wasRefused = clients.statuses.has(503);
    await waitUntil('a record is stored, or a call fails', async () => hit() || (await store()));
    if (!range.lasts) {
      await waitUntil('the server recovers', store);
      afterwards = await sendMore(url, kept);
    }
    if (range.lasts && hit() && wasRefused && fault.isFatal) await assertDown(url, kept);
    assert.equal(server.child.exitCode, null, `the server has ended by itself: ${server.stderr()}`);
  } finally {
    await killServer(server);
    await clients.stop();
  }
  assert.deepEqual(
    [...clients.statuses.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  );
  return [...clients.sent, later, ...afterwards];
};

/** Sends records to a server after a failure. The next startup must find these records. */
const sendMore = async (url: string, kept: Kept): Promise<Operation[][]> => {
  const clients = startClients(url, { kept, tag: 'more', count: clientCount, limit: 4 });
  await clients.done;
  await clients.stop();
  return clients.sent;
};

/** Sends one more record. Resolves to true if it was stored. */
const tryToStore = async (url: string, kept: Kept, sent: Operation[]): Promise<boolean> => {
  const { operation } = await sendOne(url, `later-${sent.length}`, kept);
  sent.push(operation);
  return operation.isAcknowledged;
};

/** Asserts that changes are refused and everything else works. */
const assertDown = async (url: string, kept: Kept): Promise<void> => {
  const { status, retryAfter } = await sendOne(url, 'while-it-is-down', kept);
  assert.deepEqual([status, retryAfter], [503, '1']);
  if (kept.what === 'alert') assert.equal((await fetch(`${url}/ready`)).status, 503);
  else assert.equal((await fetch(`${url}${kept.list}`)).status, 200);
  assert.equal((await fetch(`${url}/openapi.json`)).status, 200);
};

const storeAfterRestart = async (dataDir: string, kept: Kept): Promise<Operation> => {
  let refusal = '';
  const server = await startServer({ dataDir, kept, onRefusal: (stderr) => (refusal = stderr) });
  assert.ok(server, `the server does not start again: ${refusal}`);
  try {
    const { status, operation } = await sendOne(server.url, 'after-the-restart', kept);
    assert.ok(operation.isAcknowledged, `the first change after the restart is answered ${status}`);
    return operation;
  } finally {
    await killServer(server);
  }
};
