import { setTimeout } from 'node:timers/promises';
import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { measureP99 } from '../support/probe.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { startSleepers } from '../support/sleepers.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

const sleepers = 2000;
const connections = 4;

/**
 * What asking for many processes does to other requests. The server is on no processor of its own, as in operation:
 * reading so many may be work for another thread.
 */
export const processesHammered: Row = {
  id: 'B7',
  measure: async ({ scope, load, rounds, seconds }) => {
    await startSleepers(scope, sleepers);
    const { url } = await startSignalbox(scope, undefined);
    await ask(createPost(`${url}/api/tasks`, newTask));
    const probe = () => measureP99(`${url}/api/tasks/1`, 2 * seconds);
    const hammer =
      (path: string): Measurement =>
      async () => {
        const request = { url: `${url}${path}`, connections, seconds: 2 * seconds + 1 };
        // The load is there before it counts.
        const probing = setTimeout(500).then(probe);
        const [p99] = await Promise.all([probing, load.run(request)]);
        return p99;
      };
    const sides = [hammer('/api/processes'), probe, hammer('/api/tasks/1')];
    await takeTurns(1, sides);
    const [ours = [], without = [], others = []] = await takeTurns(rounds, sides);
    const work = `p99 of GET /api/tasks/{id} with ${sleepers} processes, GET /api/processes on ${connections} connections`;
    const findings: Finding[] = [
      {
        ...{ id: 'B7', work, unit: ' ms', ours },
        beside: { name: 'without', figures: without },
        goals: [{ of: 'ratio', atMost: 2 }],
      },
      {
        ...{ id: 'B7', work, unit: ' ms', ours },
        beside: { name: 'with GET /api/tasks/{id} on them', figures: others },
        goals: [],
      },
    ];
    return findings;
  },
};
