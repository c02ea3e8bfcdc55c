import { createDayLogs, startIndexed } from '../support/day-logs.ts';
import type { Finding } from '../support/finding.ts';
import { compareRates, type Side } from '../support/rounds.ts';
import type { Row } from './row.ts';

/** The histogram of the last 24 hours of a long log of alerts, beside its last 50 alerts, and a log of these hours alone. */
export const histogram: Row = {
  id: 'B13',
  measure: async (bench) => {
    const logs = await createDayLogs(bench, 'last');
    const long = await startIndexed(bench, logs.long);
    const day = await startIndexed(bench, logs.day);
    const toSide = (server: typeof long, path: string): Side => ({ server, request: { url: `${server.url}${path}` } });
    const path = '/api/alerts/histogram?buckets=96';
    const compare = async (name: string, other: Side, atLeast: number): Promise<Finding> => {
      const { figures, ...measured } = await compareRates(bench, toSide(long, path), other);
      const work = `histogram of 24 hours at ${logs.size}`;
      return { id: 'B13', work, unit: '/s', ...measured, beside: { name, figures }, goals: [{ of: 'ratio', atLeast }] };
    };
    return [
      await compare('a list of 50 alerts', toSide(long, '/api/alerts?limit=50'), 0.5),
      await compare('these 24 hours alone', toSide(day, path), 0.9),
    ];
  },
};
