import { createDayLogs, type DayLogs, startIndexed } from '../support/day-logs.ts';
import type { Finding, Goal } from '../support/finding.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
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
      const sides = servers.map(({ url }) =>
        measureSearch(`${url}/api/alerts/search?${toRange(logs)}&${query}`, times),
      );
      await takeTurns(1, sides);
      const [ours = [], figures = []] = await takeTurns(bench.rounds, sides);
      findings.push({
        id: 'B12',
        work: `search for ${work} of one day of ${logs.size}`,
        unit: '/s',
        ours,
        beside: { name: 'that day alone', figures },
        goals,
      });
    }
    return findings;
  },
};

/** Searches per second, one after the other. */
const measureSearch =
  (url: string, times: number): Measurement =>
  async () => {
    const began = performance.now();
    for (let time = 0; time < times; time += 1) {
      const response = await fetch(url);
      await response.text();
      if (response.status !== 200) throw new Error(`${url} got ${response.status}`);
    }
    return (times * 1000) / (performance.now() - began);
  };

const toRange = ({ since, until }: DayLogs): string =>
  `since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`;
