import { setTimeout } from 'node:timers/promises';
import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { measureP99 } from '../support/probe.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
import { readOwnDelay, startSignalbox } from '../support/signalbox.ts';
import { startSleepers } from '../support/sleepers.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

const sleepers = 2000;
const connections = 4;

const work = `with ${sleepers} processes, GET /api/processes on ${connections} connections`;

/** The latency seen by the client, and the part of it that the server itself caused. */
interface Side {
  measure: Measurement;
  delays: number[];
}

/**
 * The effect of process listings on other requests. The server is not pinned to a processor, as in production: reading
 * many processes may use another thread.
 */
export const processesHammered: Row = {
  id: 'B7',
  measure: async ({ scope, load, rounds, seconds }) => {
    await startSleepers(scope, sleepers);
    const server = await startSignalbox(scope, undefined, { report: 'delay' });
    await ask(createPost(`${server.url}/api/tasks`, newTask));
    const createSide = (beside: (probe: Measurement) => Measurement): Side => {
      const delays: number[] = [];
      const probe = async (): Promise<number> => {
        await readOwnDelay(server);
        const p99 = await measureP99(`${server.url}/api/tasks/1`, 2 * seconds);
        delays.push(await readOwnDelay(server));
        return p99;
      };
      return { measure: beside(probe), delays };
    };
    const hammering =
      (path: string) =>
      (probe: Measurement): Measurement =>
      async () => {
        const request = { url: `${server.url}${path}`, connections, seconds: 2 * seconds + 1 };
        // The load starts before measuring does.
        const [p99] = await Promise.all([setTimeout(500).then(probe), load.run(request)]);
        return p99;
      };
    const sides = [
      createSide(hammering('/api/processes')),
      createSide((probe) => probe),
      createSide(hammering('/api/tasks/1')),
    ];
    const measurements = sides.map(({ measure }) => measure);
    await takeTurns(1, measurements);
    for (const { delays } of sides) delays.length = 0;
    return toFindings(
      await takeTurns(rounds, measurements),
      sides.map(({ delays }) => delays),
    );
  },
};

/** For each kind of figure: with our load, without load, and with another kind of load. */
const toFindings = (times: number[][], delays: number[][]): Finding[] => {
  const [ours = [], without = [], others = []] = times;
  const [ourDelays = [], delaysWithout = []] = delays;
  const p99 = `p99 of GET /api/tasks/{id} ${work}`;
  return [
    {
      id: 'B7',
      work: p99,
      unit: ' ms',
      ours,
      beside: { name: 'without', figures: without },
      goals: [{ of: 'ratio', atMost: 2 }],
    },
    {
      id: 'B7',
      work: p99,
      unit: ' ms',
      ours,
      beside: { name: 'with GET /api/tasks/{id} on them', figures: others },
      goals: [],
    },
    {
      id: 'B7',
      work: `p99 of the wait for the event loop, ${work}`,
      unit: ' ms',
      ours: ourDelays,
      beside: { name: 'without', figures: delaysWithout },
      goals: [],
    },
  ];
};
