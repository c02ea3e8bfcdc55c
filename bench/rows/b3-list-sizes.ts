import { ask } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { startSeeded } from '../support/million.ts';
import { compareRates, type Side } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import type { Row } from './row.ts';

/** Filters, with what they match in the seed of `support/tasks.ts`. */
const filters: [query: string, matches: string][] = [
  ['', 'all match'],
  ['?status=Pending', 'every second matches'],
  ['?priority=Critical', 'fifty match, spread over all'],
  ['?status=Cancelled', 'the last ten match'],
  ['?status=Cancelled&priority=High', 'some of the last ten match'],
  ['?status=Completed', 'none matches'],
];

/** The same list with a million tasks and with a thousand. */
export const listSizes: Row = {
  id: 'B3',
  measure: async (bench) => {
    const many = await bench.startMillion();
    const few = await startSeeded(bench.scope, bench.cores, 1000);
    const findings: Finding[] = [];
    for (const [query, matches] of filters) {
      const toSide = (server: Server): Side => ({
        server,
        request: { url: `${server.url}/api/tasks${query}` },
      });
      await requireSameCount(toSide(many), toSide(few));
      const { figures, ...measured } = await compareRates(bench, toSide(many), toSide(few));
      findings.push({
        id: 'B3',
        work: `GET /api/tasks${query} at 1,000,000: ${matches}`,
        unit: '/s',
        ...measured,
        beside: { name: 'itself at 1,000', figures },
        goals: [{ of: 'ratio', atLeast: 0.95 }],
      });
    }
    return findings;
  },
};

/** Throws if the responses differ in size, since they would not be comparable. */
const requireSameCount = async (...sides: Side[]): Promise<void> => {
  const answers = sides.map(async ({ request }): Promise<number> => JSON.parse(await ask(request)).count);
  const [count, ...others] = await Promise.all(answers);
  if (others.some((other) => other !== count))
    throw new Error(`the lists differ: ${count} tasks, and ${others.join()}`);
};
