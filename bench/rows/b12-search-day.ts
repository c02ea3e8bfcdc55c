import { createDayLogs, type DayLogs, startIndexed } from '../support/day-logs.ts';
import type { Finding } from '../support/finding.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
import type { Row } from './row.ts';

/** The last alerts of the day, and a text that no alert has, for which the whole day is read. */
const searches = [
  { work: 'the last 50 alerts', query: 'limit=50', times: 100 },
  { work: 'a text in all messages', query: 'q=no+such+text', times: 2 },
];

/** Searching one day of a long log of alerts, and the same day in a log of that day alone. */
export const searchDay: Row = {
  id: 'B12',
  measure: async (bench) => {
    const logs = await createDayLogs(bench, 'middle');
    const servers = [await startIndexed(bench, logs.long), await startIndexed(bench, logs.day)];
    const findings: Finding[] = [];
    for (const { work, query, times } of searches) {
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
        goals: [{ of: 'ratio', atLeast: 0.9 }],
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
