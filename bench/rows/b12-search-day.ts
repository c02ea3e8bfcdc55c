import { createDayLogs, type DayLogs, startIndexed } from '../support/day-logs.ts';
import type { Finding } from '../support/finding.ts';
import { compareRates, type Side } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import type { Row } from './row.ts';

/** Searching one day of a long log of alerts, and the same day in a log of that day alone. */
export const searchDay: Row = {
  id: 'B12',
  measure: async (bench) => {
    const logs = await createDayLogs(bench, 'middle');
    const [long, day] = [await startIndexed(bench, logs.long), await startIndexed(bench, logs.day)];
    const findings: Finding[] = [];
    for (const { work, query } of searches) {
      const toSide = (server: Server): Side => ({
        server,
        request: { url: `${server.url}/api/alerts/search?${toRange(logs)}&${query}`, connections: 2 },
      });
      const { figures, ...measured } = await compareRates(bench, toSide(long), toSide(day));
      findings.push({
        id: 'B12',
        work: `${work} of one day of ${logs.size}`,
        unit: '/s',
        ...measured,
        beside: { name: 'that day alone', figures },
        goals: [{ of: 'ratio', atLeast: 0.9 }],
      });
    }
    return findings;
  },
};

/** The last alerts of the day, and a text that no alert has, for which the whole day is read. */
const searches = [
  { work: 'the last 50 alerts', query: 'limit=50' },
  { work: 'a text in the messages', query: 'q=no+such+text' },
];

const toRange = ({ since, until }: DayLogs): string =>
  `since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`;
