import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { atExit } from '../../test/faults/support/exit.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { watchMemory } from '../../test/support/memory.ts';
import type { WatchOrder } from '../opponents/watchers.ts';
import { ask, createPost } from '../support/ask.ts';
import { requireSyncedFolder } from '../support/disk.ts';
import { median } from '../support/figures.ts';
import { fillLog } from '../support/fill-log.ts';
import { describeProbes, measureP99, measureP99At, probeSeconds } from '../support/probe.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { startCompanion } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

const sleepers = 2000;
const alert = { source: 'backup', level: 'ERROR', message: 'the disk is full', hostname: 'web-1' };

/** Starts processes that do nothing until the scope ends, or for ten minutes. */
const startSleepers = async (scope: Scope): Promise<void> => {
  const script = `i=0; while [ $i -lt ${sleepers} ]; do sleep 600 & i=$((i+1)); done; echo ready; wait`;
  const shell = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const killAll = () => process.kill(-(shell.pid ?? 0), 'SIGKILL');
  const forget = atExit(killAll);
  const ended = once(shell, 'exit');
  scope.atEnd(async () => {
    forget();
    killAll();
    await ended;
  });
  await once(shell.stdout, 'data');
};

/**
 * The effect of process lists on other requests. The server is not pinned to a processor, as in production: reading
 * many processes may use another thread.
 */
const hammered: Row = {
  ids: ['B7'],
  measure: async ({ scope, load, rounds }) => {
    await startSleepers(scope);
    const server = await startSignalbox(scope, undefined);
    await ask(createPost(`${server.url}/api/tasks`, newTask));
    const probe = () => measureP99(`${server.url}/api/tasks/1`);
    const beside =
      (path: string): Measurement =>
      async () => {
        const running = load({ url: `${server.url}${path}`, connections: 4 }, Math.ceil(probeSeconds + 1));
        await setTimeout(500);
        return (await Promise.all([probe(), running]))[0];
      };
    const sides = [beside('/api/processes?top=100000'), probe, beside('/api/tasks/1')];
    const [ours = [], without = [], others = []] = await takeTurns(rounds, sides);
    const work = `p99 of GET /api/tasks/{id}, ${sleepers} processes, all listed on 4 connections`;
    const row = { id: 'B7', work, unit: ' ms', ours, rounds: describeProbes(rounds) };
    return [
      { ...row, beside: { name: 'without', figures: without }, goals: [{ of: 'ratio', atMost: 2 }] },
      { ...row, beside: { name: 'with GET /api/tasks/{id} on them', figures: others }, goals: [] },
    ];
  },
};

/** Pause after each piece read, at most 64 KiB: three megabytes a second. */
const readMs = 20;

/** Reads a response slowly; the returned function stops and throws if the response was complete, so not slow. */
const readSlowly = (base: string, path: string): (() => void) => {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let received = 0;
  socket.on('data', async (piece) => {
    received += piece.length;
    socket.pause();
    await setTimeout(readMs);
    socket.resume();
  });
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  return () => {
    const wasReading = received > 0 && !socket.closed;
    socket.destroy();
    if (!wasReading) throw new Error(`the slow reader received ${received} bytes and the end`);
  };
};

/** A client that reads a very long response slowly: the memory that it costs at most, and the delay of others. */
const slowReader: Row = {
  ids: ['B11'],
  measure: async ({ scope, cores, rounds }) => {
    const { url, pid } = await startSignalbox(scope, cores, { tasks: 1_000_000 });
    const readGrowth = watchMemory(pid);
    const probe = () => measureP99(`${url}/api/tasks/1`);
    const disturbed = async (): Promise<number> => {
      const stop = readSlowly(url, '/api/tasks?limit=1000000');
      const p99 = await probe();
      stop();
      return p99;
    };
    const [ours = [], figures = []] = await takeTurns(rounds, [disturbed, probe]);
    const growth = { id: 'B11', unit: ' MiB', ours: [readGrowth()], rounds: `${rounds} readers` };
    const work = 'peak memory while slow readers receive 1,000,000 tasks, less that before the first one';
    const p99 = { id: 'B11', unit: ' ms', ours, beside: { name: 'without', figures }, rounds: describeProbes(rounds) };
    return [
      { ...growth, work, goals: [{ of: 'value', atMost: 64 }] },
      { ...p99, work: 'p99 of GET /api/tasks/{id} during this', goals: [{ of: 'ratio', atMost: 2 }] },
    ];
  },
};

const waiting = 100_000;

/** What a destination that cannot be reached, and its backlog, cost those who send alerts. */
const deadDestination: Row = {
  ids: ['B15'],
  measure: async ({ scope, cores, rounds }) => {
    await requireSyncedFolder(scope.folder);
    const start = async (name: string, destinations: object[]): Promise<Measurement> => {
      const dataDir = join(scope.folder, name);
      await fillLog(dataDir, waiting);
      const config = join(scope.folder, `${name}.json`);
      writeFileSync(config, JSON.stringify({ destinations }), { mode: 0o600 });
      // Refusals by a busy machine are not what is measured.
      const flags = ['--config', config, '--profiles', 'alerts,monitoring', '--max-event-loop-delay', '0'];
      const server = await startSignalbox(scope, cores, { dataDir, flags });
      return () => measureP99(`${server.url}/api/alert`, alert);
    };
    const url = `http://127.0.0.1:${await findFreePort()}/`;
    const sides = [
      await start('dead', [{ name: 'dead', type: 'webhook', url, startAt: 'oldest' }]),
      await start('none', []),
    ];
    for (const warmUp of sides) await warmUp();
    const [ours = [], figures = []] = await takeTurns(rounds, sides);
    const work = `p99 of POST /api/alert with a dead destination and ${waiting.toLocaleString('en')} alerts waiting`;
    const row = { id: 'B15', work, unit: ' ms', ours, rounds: describeProbes(rounds) };
    return [{ ...row, beside: { name: 'without destinations', figures }, goals: [{ of: 'ratio', atMost: 1.2 }] }];
  },
};

const consoles = 100;
const perSecond = 1000;
const watchedSeconds = 5;

/** Alerts at a fixed rate while consoles watch them, and while none does. */
const watched: Row = {
  ids: ['B28'],
  measure: async ({ scope, cores, rounds }) => {
    await requireSyncedFolder(scope.folder);
    const shares: [number[], number[]] = [[], []];
    let accepted = 0;
    const measureSide = (side: 0 | 1, streams: number) => (): Promise<number> =>
      withScope(scope.folder, async (own) => {
        const flags = ['--profiles', 'alerts,events,monitoring', '--max-event-loop-delay', '0'];
        const { url, pid } = await startSignalbox(own, cores, { flags });
        const order: WatchOrder = { url, streams };
        accepted = Math.max(accepted, await startCompanion<number>(own, cores, 'opponents/watchers', order).read());
        const options = { intervalMs: 1000 / perSecond, count: perSecond, body: alert };
        await measureP99At(`${url}/api/alert`, options);
        const [cpu, began] = [readCpuMs(pid), performance.now()];
        const p99 = await measureP99At(`${url}/api/alert`, { ...options, count: watchedSeconds * perSecond });
        shares[side].push((readCpuMs(pid) - cpu) / (performance.now() - began));
        return p99;
      });
    const [ours = [], figures = []] = await takeTurns(rounds, [measureSide(0, consoles), measureSide(1, 0)]);
    const [mine, others] = shares;
    const added = mine.map((share, round) => share - (others[round] ?? Number.NaN));
    const streams = accepted === consoles ? `${consoles}` : `${accepted} (of ${consoles}: the server takes no more)`;
    const cost = `processor time that they add (with ${median(mine).toFixed(2)}, without ${median(others).toFixed(2)})`;
    const p99 = `p99 of ${perSecond} POST /api/alert a second while ${streams} consoles watch`;
    const row = { id: 'B28', rounds: `${rounds} × ${perSecond * watchedSeconds} requests` };
    const beside = { name: 'none watching', figures };
    return [
      { ...row, work: p99, unit: ' ms', ours, beside, goals: [{ of: 'ratio', atMost: 2 }] },
      { ...row, work: cost, unit: ' of a core', ours: added, goals: [{ of: 'value', atMost: 0.3 }] },
    ];
  },
};

export const latencyRows: readonly Row[] = [hammered, slowReader, deadDestination, watched];
