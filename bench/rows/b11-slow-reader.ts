import { setTimeout } from 'node:timers/promises';
import type { Finding } from '../support/finding.ts';
import { measureP99 } from '../support/probe.ts';
import { readResidentBytes } from '../support/process-cost.ts';
import { takeTurns } from '../support/rounds.ts';
import { readLiveBytes } from '../support/signalbox.ts';
import { startSlowReader } from '../support/slow-reader.ts';
import type { Row } from './row.ts';

const sampleMs = 50;
const tasks = 1_000_000;

/** What a client that reads a very long answer slowly costs the server and its other clients. */
export const slowReader: Row = {
  id: 'B11',
  measure: async ({ rounds, seconds, startMillion }) => {
    const server = await startMillion();
    const probe = () => measureP99(`${server.url}/api/tasks/1`, 2 * seconds);
    const undisturbed = async (): Promise<number> => {
      // As on the other side: what a collection of so much memory leaves to be done takes a while.
      await readLiveBytes(server);
      return probe();
    };
    const growth: number[] = [];
    const disturbed = async (): Promise<number> => {
      await readLiveBytes(server);
      const reader = startSlowReader(`${server.url}/api/tasks?limit=${tasks}`);
      const probing = probe();
      const [p99, bytes] = await Promise.all([probing, watchGrowth(server.pid, probing)]);
      reader.stop();
      growth.push(bytes / 2 ** 20);
      return p99;
    };
    await takeTurns(1, [disturbed, undisturbed]);
    growth.length = 0;
    const [ours = [], figures = []] = await takeTurns(rounds, [disturbed, undisturbed]);
    const findings: Finding[] = [
      {
        id: 'B11',
        work: 'memory that an answer of 1,000,000 tasks to a slow reader takes',
        unit: ' MiB',
        ours: growth,
        goals: [{ of: 'value', atMost: 64 }],
      },
      {
        id: 'B11',
        work: 'p99 of GET /api/tasks/{id} meanwhile',
        unit: ' ms',
        ours,
        beside: { name: 'without', figures },
        goals: [{ of: 'ratio', atMost: 2 }],
      },
    ];
    return findings;
  },
};

/** By how many bytes the memory of a process grows at most while something is going on. */
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
