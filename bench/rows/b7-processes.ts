import type { Finding } from '../support/finding.ts';
import { startGlances } from '../support/opponents.ts';
import { compareRates } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Row } from './row.ts';

/** Glances handles one request at a time and refuses connections when many are waiting. */
const connections = 8;

/** By `top`: ten by default, and all, which is what Glances returns. */
const queries: [query: string, listed: string][] = [
  ['', 'the largest ten'],
  ['?top=100000', 'all of them'],
];

/** Listing processes, compared with Glances. */
export const processes: Row = {
  id: 'B7',
  measure: async (bench) => {
    const { scope, cores } = bench;
    const glances = await startGlances(scope, cores);
    const server = await startSignalbox(scope, cores);
    const other = { server: glances, request: { url: `${glances.url}/api/3/processlist`, connections } };
    const findings: Finding[] = [];
    for (const [query, listed] of queries) {
      const request = { url: `${server.url}/api/processes${query}`, connections };
      const { figures, ...measured } = await compareRates(bench, { server, request }, other);
      findings.push({
        id: 'B7',
        work: `GET /api/processes, ${listed}`,
        unit: '/s',
        ...measured,
        beside: { name: 'Glances, /api/3/processlist', figures },
        goals: [{ of: 'ratio', atLeast: 5 }],
      });
    }
    return findings;
  },
};
