import { setTimeout } from 'node:timers/promises';
import { longTest } from '../../support/long.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { startTcpProxy, type TcpProxy } from '../../support/postgres/proxy.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { createRandom } from '../../support/random.ts';
import { startInstances } from './support/instances.ts';
import { runGroups } from './support/rounds.ts';
import { assertSound, runTrial, waitForOperations } from './support/trial.ts';
import type { Workload } from './support/workload.ts';

/** Milliseconds for which bytes are held back, longer than a query may take. */
const heldMs = 3500;

type Fault = (proxy: TcpProxy, workload: Workload) => Promise<void>;

const faults: Record<string, Fault> = {
  'answers are held': async (proxy) => {
    proxy.hold('to-client', 'all');
    await setTimeout(heldMs);
    proxy.release();
  },
  'requests are held, and arrive when others were sent instead': async (proxy) => {
    proxy.hold('to-server', 'open');
    await setTimeout(heldMs);
    proxy.release();
  },
  'connections are reset': async (proxy, workload) => {
    for (let time = 0; time < 3; time += 1) {
      proxy.cut('reset');
      await waitForOperations(workload, 50);
    }
  },
  'connections are closed': async (proxy, workload) => {
    for (let time = 0; time < 3; time += 1) {
      proxy.cut('end');
      await waitForOperations(workload, 50);
    }
  },
  'connections are reset before the answer to a commit': async (proxy, workload) => {
    for (let time = 0; time < 10; time += 1) {
      await proxy.cutBeforeAnswer();
      await waitForOperations(workload, 20);
    }
  },
};

longTest('held and cut connections lose and duplicate nothing', { skip: toSkipPostgres() }, (t) =>
  runGroups(t, async (group, count) => {
    const server = await startPostgres(group);
    const proxy = await startTcpProxy(group, server.port);
    const store = server.url().replace(`:${server.port}/`, `:${proxy.port}/`);
    const instances = await startInstances(group, { store });
    const random = createRandom();
    for (let round = 0; round < count; round += 1) {
      for (const [what, disturb] of Object.entries(faults)) {
        const fault = (workload: Workload) => disturb(proxy, workload);
        assertSound(group, what, await runTrial(group, { instances, random, fault }));
      }
    }
  }),
);
