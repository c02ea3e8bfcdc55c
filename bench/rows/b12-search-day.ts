import { createDayLogs, type DayLogs, startIndexed } from '../support/day-logs.ts';
import type { Finding, Goal } from '../support/finding.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import type { Row } from './row.ts';

interface Search {
  work: string;
  query: string;
  times: number;
  goals: Goal[];
}

/**
 * A text that no alert has, for which the whole day is read, and the last alerts of the day: there the long log's side opens
 * a closed file, which takes about as long as the search.
 */
const searches: Search[] = [
  { work: 'a text in all messages', query: 'q=no+such+text', times: 2, goals: [{ of: 'ratio', atLeast: 0.9 }] },
  { work: 'the last 50 alerts', query: 'limit=50', times: 100, goals: [] },
];

/** Searching one day of a long log of alerts, and the same day in a log of that day alone. */
export const searchDay: Row = {
  id: 'B12',
  measure: async (bench) => {
    const logs = await createDayLogs(bench, 'middle');
    const servers = [await startIndexed(bench, logs.long), await startIndexed(bench, logs.day)];
    const findings: Finding[] = [];
    for (const { work, query, times, goals } of searches) {
      const path = `/api/alerts/search?${toRange(logs)}&${query}`;
      const cpuMs = servers.map((): number[] => []);
      const sides = servers.map((server, side) => measureSearch(server, path, times, cpuMs[side] ?? []));
      await takeTurns(1, sides);
      const [ours = [], figures = []] = await takeTurns(bench.rounds, sides);
      const [cpuOfOurs = [], cpuOfOther = []] = cpuMs.map((list) => list.slice(1));
      findings.push({
        id: 'B12',
        work: `search for ${work} of one day of ${logs.size}`,
        unit: '/s',
        ours,
        cpuRatios: cpuOfOther.map((ms, round) => ms / (cpuOfOurs[round] ?? Number.NaN)),
        beside: { name: 'that day alone', figures },
        goals,
      });
    }
    return findings;
  },
};

/** Searches per second, one after the other; adds to `cpuMs` what processor time they took. */
const measureSearch =
  ({ url: base, pid }: Server, path: string, times: number, cpuMs: number[]): Measurement =>
  async () => {
    const url = `${base}${path}`;
    const before = readCpuMs(pid);
    const began = performance.now();
    for (let time = 0; time < times; time += 1) {
      const response = await fetch(url);
      await response.text();
      if (response.status !== 200) throw new Error(`${url} got ${response.status}`);
    }
    const seconds = (performance.now() - began) / 1000;
    cpuMs.push(readCpuMs(pid) - before);
    return times / seconds;
  };

const toRange = ({ since, until }: DayLogs): string =>
  `since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`;
