import { createDayLogs, startIndexed } from '../support/day-logs.ts';
import { compareRates, type Side } from '../support/rounds.ts';
import type { Row } from './row.ts';

/** The histogram of the last 24 hours of a long log of alerts, and of a log of these hours alone. */
export const histogram: Row = {
  id: 'B13',
  measure: async (bench) => {
    const logs = await createDayLogs(bench, 'last');
    const start = async (folder: string): Promise<Side> => {
      const server = await startIndexed(bench, folder);
      return { server, request: { url: `${server.url}/api/alerts/histogram?buckets=96` } };
    };
    const { figures, ...measured } = await compareRates(bench, await start(logs.long), await start(logs.day));
    return [
      {
        id: 'B13',
        work: `histogram of 24 hours at ${logs.size}`,
        unit: '/s',
        ...measured,
        beside: { name: 'these 24 hours alone', figures },
        goals: [{ of: 'ratio', atLeast: 0.9 }],
      },
    ];
  },
};
