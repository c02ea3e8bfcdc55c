import { setTimeout } from 'node:timers/promises';
import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { startGlances } from '../support/opponents.ts';
import { measureP99 } from '../support/probe.ts';
import { compareRates, type Measurement, takeTurns } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { startSleepers } from '../support/sleepers.ts';
import { newTask } from '../support/tasks.ts';
import type { Bench, Row } from './row.ts';

/** Glances answers one request at a time, and refuses connections when many wait. */
const connections = 8;
const sleepers = 2000;
const hammers = 4;

/** As `top` says: by default ten, and all, which is what Glances answers. */
const queries: [query: string, listed: string][] = [
  ['', 'the largest ten'],
  ['?top=100000', 'all of them'],
];

/** Processes of the machine, and what asking for them does to others. */
export const processes: Row = {
  id: 'B7',
  measure: async (bench) => [...(await compareWithGlances(bench)), await measureHammered(bench)],
};

const compareWithGlances = async (bench: Bench): Promise<Finding[]> => {
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
  await glances.kill();
  await server.kill();
  return findings;
};

/** On no processor of its own, as in operation: reading so many processes may be work for another thread. */
const measureHammered = async ({ scope, load, rounds, seconds }: Bench): Promise<Finding> => {
  await startSleepers(scope, sleepers);
  const { url } = await startSignalbox(scope, undefined);
  await ask(createPost(`${url}/api/tasks`, newTask));
  const probe = () => measureP99(`${url}/api/tasks/1`, 2 * seconds);
  const hammered: Measurement = async () => {
    const request = { url: `${url}/api/processes`, connections: hammers, seconds: 2 * seconds + 1 };
    // The load is there before it counts.
    const probing = setTimeout(500).then(probe);
    const [p99] = await Promise.all([probing, load.run(request)]);
    return p99;
  };
  await takeTurns(1, [hammered, probe]);
  const [ours = [], figures = []] = await takeTurns(rounds, [hammered, probe]);
  return {
    id: 'B7',
    work: `p99 of GET /api/tasks/{id} with ${sleepers} processes, GET /api/processes on ${hammers} connections`,
    unit: ' ms',
    ours,
    beside: { name: 'without', figures },
    goals: [{ of: 'ratio', atMost: 2 }],
  };
};
