import { setTimeout } from 'node:timers/promises';
import type { Finding } from '../support/finding.ts';
import { measureP99 } from '../support/probe.ts';
import { readResidentBytes } from '../support/process-cost.ts';
import { takeTurns } from '../support/rounds.ts';
import { readLiveBytes } from '../support/signalbox.ts';
import { startSlowReader } from '../support/slow-reader.ts';
import type { Row } from './row.ts';

const sampleMs = 50;
const settleMs = 1000;
const tasks = 1_000_000;

/** The cost of a client that reads a very long response slowly, for the server and its other clients. */
export const slowReader: Row = {
  id: 'B11',
  measure: async ({ rounds, seconds, startMillion }) => {
    const server = await startMillion();
    /**
     * The p99 of a round and the server's memory growth in bytes, measured the same way with and without the slow
     * reader.
     */
    const measureRound = async (): Promise<[p99: number, bytes: number]> => {
      const probing = measureP99(`${server.url}/api/tasks/1`, 2 * seconds);
      return Promise.all([probing, watchGrowth(server.pid, probing)]);
    };
    const settle = async (): Promise<void> => {
      await readLiveBytes(server);
      // Collecting this much garbage keeps the process busy for a while.
      await setTimeout(settleMs);
    };
    const growth: number[] = [];
    const disturbed = async (): Promise<number> => {
      await settle();
      const reader = startSlowReader(`${server.url}/api/tasks?limit=${tasks}`);
      const [p99, bytes] = await measureRound();
      reader.stop();
      growth.push(bytes / 2 ** 20);
      return p99;
    };
    const undisturbed = async (): Promise<number> => {
      await settle();
      const [p99] = await measureRound();
      return p99;
    };
    await takeTurns(1, [disturbed, undisturbed]);
    growth.length = 0;
    const [ours = [], figures = []] = await takeTurns(rounds, [disturbed, undisturbed]);
    const findings: Finding[] = [
      {
        id: 'B11',
        work: 'memory growth while a slow reader receives 1,000,000 tasks',
        unit: ' MiB',
        ours: growth,
        goals: [{ of: 'value', atMost: 64 }],
      },
      {
        id: 'B11',
        work: 'p99 of GET /api/tasks/{id} during this',
        unit: ' ms',
        ours,
        beside: { name: 'without', figures },
        goals: [{ of: 'ratio', atMost: 2 }],
      },
    ];
    return findings;
  },
};

/** The peak growth of a process's memory in bytes while the work runs. */
const watchGrowth = async (pid: number, work: Promise<unknown>): Promise<number> => {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  const before = readResidentBytes(pid);
  let highest = before;
  for (; !isOver; await setTimeout(sampleMs)) highest = Math.max(highest, readResidentBytes(pid));
  return highest - before;
};
