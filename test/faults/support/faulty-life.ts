import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallFault } from './call-faults.ts';
import { type Acknowledged, startClients } from './clients.ts';
import { compare, type Line, readLog, type Verdict } from './compare.ts';
import { coverageCalls, readCoverage } from './coverage.ts';
import { killServer } from './kill.ts';
import { sendAlert } from './send.ts';
import { type FaultServer, startServer } from './server.ts';
import { createTracing, listLogPaths, type Moment, readTrace } from './strace.ts';
import { waitUntil } from './wait.ts';

const clientCount = 4;
const alertsPerClient = 12;
/** A segment is closed every few batches. */
const smallSegments = ['--alerts-segment-bytes', '4096'];
/** The log on startup: a handwritten line, and an incomplete one. */
const remains = '{"message":"by hand"}\n{"timestamp":"2026-11-21T12:00:00","source":"';

/** Which calls fail, counted from 1, as strace expects; `lasts` means that all calls after the first fail too. */
export interface CallRange {
  when: string;
  lasts: boolean;
}

export interface Outcome {
  /** Whether a call failed. */
  isHit: boolean;
  verdict: Verdict;
  /** Alerts that were acknowledged before they were on disk. */
  wrong: number;
}

/** Runs a server with failing calls under load, kills it, and starts a second one without faults on the same log. */
export const runWithFaults = async (folder: string, fault: CallFault, range: CallRange): Promise<Outcome> => {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'alerts.jsonl'), remains);
  const trace = join(folder, 'trace');
  let refusal = '';
  const server = await startServer({
    dataDir,
    flags: smallSegments,
    onRefusal: (stderr) => {
      refusal = stderr;
    },
    ...createFaultTracing(fault, range, dataDir, trace),
  });
  if (!server) assert.match(refusal, /^(\{.*\}\n)*signalbox: dataDir: [^\n]+\n$/);
  const hit = () => isHit(fault, readTrace(trace));
  const acknowledged = server ? await serve(server, fault, range, hit) : [];
  const last = await storeAfterRestart(dataDir);
  return {
    isHit: hit(),
    verdict: compare([...acknowledged, [last]], assertAscending(readLog(dataDir))),
    wrong: fault.isOnPaths ? 0 : readCoverage(readTrace(trace)).uncovered.length,
  };
};

const createFaultTracing = (fault: CallFault, { when }: CallRange, dataDir: string, output: string) => {
  const { calls, effect, isOnPaths, also = [] } = fault;
  const injections = [`${calls.join(',')}:${effect}:when=${when}`, ...also];
  const injected = injections.flatMap((injection) => injection.split(':', 1));
  return createTracing({
    calls: isOnPaths ? injected : [...coverageCalls, ...injected],
    injections,
    // The directory is synced too.
    paths: isOnPaths ? [dataDir, ...listLogPaths(dataDir)] : [],
    output,
  });
};

const isHit = ({ calls }: CallFault, moments: readonly Moment[]): boolean => {
  const names = calls.map((name) => name.replace('?', ''));
  return moments.some(({ call, isInjected }) => isInjected && names.includes(call));
};

/** Runs clients until they have sent their alerts; resolves to what was acknowledged. */
const serve = async (
  server: FaultServer,
  { isFatal }: CallFault,
  { lasts }: CallRange,
  hit: () => boolean,
): Promise<Acknowledged[][]> => {
  const { url } = server;
  const clients = startClients(url, { tag: 'client', count: clientCount, limit: alertsPerClient });
  const later: Acknowledged[] = [];
  const store = () => tryToStore(url, later);
  try {
    await clients.done;
    const wasRefused = clients.statuses.has(503);
    await waitUntil('an alert is stored, or a call fails', async () => hit() || (await store()));
    if (!lasts) await waitUntil('it recovers by itself', store);
    else if (hit() && wasRefused && isFatal) await assertDown(url);
    assert.equal(server.child.exitCode, null, `the server has ended by itself: ${server.stderr()}`);
  } finally {
    await killServer(server);
    await clients.stop();
  }
  assert.deepEqual(
    [...clients.statuses.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  );
  return [...clients.acknowledged, later];
};

/** Sends one more alert; resolves to whether it was stored. */
const tryToStore = async (url: string, stored: Acknowledged[]): Promise<boolean> => {
  const { acknowledged } = await sendAlert(url, `later-${stored.length}`);
  if (acknowledged) stored.push(acknowledged);
  return acknowledged !== undefined;
};

/** Alerts are refused, /ready reports it, and everything else works. */
const assertDown = async (url: string): Promise<void> => {
  const { status, retryAfter } = await sendAlert(url, 'while it is down');
  assert.deepEqual([status, retryAfter], [503, '1']);
  assert.equal((await fetch(`${url}/ready`)).status, 503);
  assert.equal((await fetch(`${url}/openapi.json`)).status, 200);
};

const storeAfterRestart = async (dataDir: string): Promise<Acknowledged> => {
  const server = await startServer({ dataDir });
  assert.ok(server, 'the server does not start again');
  try {
    const { status, acknowledged } = await sendAlert(server.url, 'after the restart');
    assert.ok(acknowledged, `the first alert after the restart is answered ${status}`);
    return acknowledged;
  } finally {
    await killServer(server);
  }
};

/** Failed batches leave gaps in seq, but seq always increases. */
const assertAscending = (lines: Line[]): Line[] => {
  const numbers = lines.flatMap(({ seq }) => seq ?? []);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  return lines;
};
