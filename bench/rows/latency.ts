import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findFreePort } from '../../test/support/free-port.ts';
import { watchMemory } from '../../test/support/memory.ts';
import type { start as watch } from '../opponents/watchers.ts';
import { alert, fillLog } from '../support/alert-log.ts';
import { median } from '../support/finding.ts';
import { ask, createPost } from '../support/requests.ts';
import { measureP99, readCpuMs, takeTurns, toTimes, usual } from '../support/rounds.ts';
import type { Measure } from '../support/run.ts';
import { type Scope, startCompanion, startSignalbox, withScope } from '../support/server.ts';
import { newTask } from '../support/tasks.ts';

const sleepers = 2000;

/** Starts processes that do nothing until the scope ends, or for ten minutes. */
const startSleepers = async (scope: Scope): Promise<void> => {
  const script = `i=0; while [ $i -lt ${sleepers} ]; do sleep 600 & i=$((i+1)); done; echo ready; wait`;
  const shell = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  scope.after(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'));
  await once(shell.stdout, 'data');
};

/**
 * Measures how process lists affect other requests. The server is not pinned, because reading many processes may use
 * another thread.
 */
export const hammered: Measure = async ({ scope, load, rounds }) => {
  await startSleepers(scope);
  const { url } = await startSignalbox(scope, { place: 'any' });
  await ask(createPost(`${url}/api/tasks`, newTask));
  const probe = () => measureP99({ url: `${url}/api/tasks/1` });
  const beside = (path: string) => async () => {
    const running = load({ url: `${url}${path}`, connections: 4 }, (usual.count * usual.everyMs) / 1000 + 1);
    await setTimeout(500);
    return (await Promise.all([probe(), running]))[0];
  };
  const sides = [beside('/api/processes?top=100000'), probe, beside('/api/tasks/1')];
  const [ours, without, others] = await takeTurns(rounds, sides);
  const work = `p99 of GET /api/tasks/{id}, ${sleepers} processes, all listed on 4 connections`;
  return [
    { work, ...toTimes(ours, without), name: 'without', goal: '≤ 2 ×' },
    { work, ...toTimes(ours, others), name: 'with GET /api/tasks/{id} on them' },
  ];
};

/**
 * Milliseconds to pause after reading each piece of at most 64 KiB. This results in about three megabytes per second.
 */
const readMs = 20;

/** Reads a response slowly. The returned function stops reading, and throws if the response was already complete. */
const readSlowly = (url: string): (() => void) => {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.on('data', async () => {
    socket.pause();
    await setTimeout(readMs);
    socket.resume();
  });
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  return () => {
    const wasReading = socket.bytesRead > 0 && !socket.closed;
    socket.destroy();
    if (!wasReading) throw new Error(`the slow reader received ${socket.bytesRead} bytes and the end`);
  };
};

/**
 * Measures a client that reads a very long response slowly: the server's peak memory, and the delay of other requests.
 */
export const slowReader: Measure = async ({ scope, rounds }) => {
  const { url, pid } = await startSignalbox(scope, { tasks: 1_000_000 });
  const long = `${url}/api/tasks?limit=1000000`;
  const readGrowth = watchMemory(pid);
  const probe = () => measureP99({ url: `${url}/api/tasks/1` });
  const disturbed = async () => {
    const stop = readSlowly(long);
    const measured = await probe();
    stop();
    return measured;
  };
  const [ours, without] = await takeTurns(rounds, [disturbed, probe]);
  const growth = { unit: ' MiB', ours: [readGrowth()], rounds: `${rounds} readers`, goal: '≤ 64 MiB' };
  const bytes = [(await (await fetch(long)).arrayBuffer()).byteLength];
  const work = 'peak memory while slow readers receive 1,000,000 tasks, less that before the first one';
  const p99 = { work: 'p99 of GET /api/tasks/{id} during this', name: 'without', goal: '≤ 2 ×' };
  return [
    { work, ...growth, bytes },
    { ...p99, ...toTimes(ours, without) },
  ];
};

const waiting = 100_000;
/** Flags that disable the refusal of requests on a busy machine. This row does not measure refusals. */
const patient = ['--max-event-loop-delay', '0'];

/** Measures how much an unreachable destination with a backlog slows down senders of alerts. */
export const deadDestination: Measure = async ({ scope, rounds }) => {
  const start = async (name: string, destinations: object[]) => {
    const dataDir = join(scope.folder, name);
    await fillLog(dataDir, waiting);
    const { url } = await startSignalbox(scope, { dataDir, config: { destinations }, flags: patient });
    return () => measureP99(createPost(`${url}/api/alert`, alert));
  };
  const url = `http://127.0.0.1:${await findFreePort()}/`;
  const dead = await start('dead', [{ name: 'dead', type: 'webhook', url, startAt: 'oldest' }]);
  const sides = [dead, await start('none', [])];
  await takeTurns(1, sides);
  const [ours, theirs] = await takeTurns(rounds, sides);
  const work = `p99 of POST /api/alert with a dead destination and ${waiting.toLocaleString('en')} alerts waiting`;
  return [{ work, ...toTimes(ours, theirs), name: 'without destinations', goal: '≤ 1.2 ×' }];
};

const consoles = 100;
const pace = { count: 3000, everyMs: 1 };

/** Measures alerts at a fixed rate, with and without consoles watching them. */
export const watched: Measure = async ({ scope, rounds }) => {
  let accepted = 0;
  const side = (streams: number) => () =>
    withScope(scope.folder, async (own) => {
      const { url, pid } = await startSignalbox(own, { flags: patient });
      const { result } = await startCompanion<typeof watch>(own, 'opponents/watchers', [url, streams]);
      accepted = Math.max(accepted, result);
      const request = createPost(`${url}/api/alert`, alert);
      await measureP99(request, { ...pace, count: 1000 });
      const [cpu, began] = [readCpuMs(pid), performance.now()];
      const measured = await measureP99(request, pace);
      return { ...measured, share: (readCpuMs(pid) - cpu) / (performance.now() - began) };
    });
  const [ours = [], theirs = []] = await takeTurns(rounds, [side(consoles), side(0)]);
  const times = toTimes(ours, theirs, pace);
  const { bytes, rounds: measured } = times;
  const streams = accepted === consoles ? `${consoles}` : `${accepted} (of ${consoles}: the server takes no more)`;
  const [mine, others] = [ours, theirs].map((probes) => median(probes.map(({ share }) => share)).toFixed(2));
  const added = ours.map(({ share }, round) => share - (theirs[round]?.share ?? Number.NaN));
  const work = `p99 of 1000 POST /api/alert a second while ${streams} consoles watch`;
  const cost = `processor time that they add (with ${mine}, without ${others})`;
  return [
    { work, ...times, name: 'none watching', goal: '≤ 2 ×' },
    { work: cost, unit: ' of a core', ours: added, bytes, rounds: measured, goal: '≤ 0.3 of a core' },
  ];
};
