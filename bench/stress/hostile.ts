import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { watchHealth } from '../../test/support/health.ts';
import { watchMemory } from '../../test/support/memory.ts';
import type { Cores } from '../support/cores.ts';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { startCompanion } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { createSeedTask } from '../support/tasks.ts';
import type { AttackOrder } from './attackers.ts';

type Attack = [name: AttackOrder['name'], clients: number, work: string];

const attacks: readonly Attack[] = [
  ['header lines', 60, 'pipeline 498 requests with 3,990 empty header lines each'],
  ['long headers', 60, 'pipeline 498 requests with 190 header lines and 16 KB each'],
  ['short requests', 60, 'pipeline 20 MB of requests with 41 bytes each'],
  ['idle', 1050, 'send nothing to a server with 1,024 open files'],
  ['slow headers', 1000, 'send a byte of a header every two seconds'],
  ['not reading', 600, 'request lists and do not read'],
  ['bodies', 990, 'send 1 MiB without its last byte'],
  ['chunks', 40, 'send 1 MiB without its last byte, in chunks of one byte'],
  ['resets', 200, 'log in and reset the connection'],
  ['alerts', 32, 'list alerts of a level that a log of 0.9 GB does not have'],
];

/** Lists of 9 and 12 MB: more than the socket buffers hold for a client that does not read. */
const listed = 50_000;
const simpleTask = { title: 'Compare the checksums with those of the log. '.repeat(5) };
/** 0.9 GB of log. */
const alerts = 2_000_000;
/** Duration of each attack. */
const seconds = 10;

/** Clients without a token that try to use up memory, connections or time. */
export const measureHostile = async (scope: Scope, cores: Cores | undefined): Promise<Finding[]> => {
  const dataDir = join(scope.folder, 'data');
  await fillLog(dataDir, alerts);
  const seed = join(scope.folder, 'seed.json');
  const simpleTasks = Array.from({ length: listed }, () => simpleTask);
  const tasks = simpleTasks.map((_, place) => createSeedTask(place, listed));
  await writeFile(seed, JSON.stringify({ tasks, simpleTasks }));
  const findings: Finding[] = [];
  for (const [name, clients, work] of attacks) {
    process.stderr.write(`  ${clients} ${name} ...\n`);
    const { growth, health } = await withScope(scope.folder, async (own) => {
      const options = { flags: ['--seed', seed], dataDir, ...(name === 'idle' && { openFiles: 1024 }) };
      const { url, pid } = await startSignalbox(own, cores, options);
      const readGrowth = watchMemory(pid);
      const watch = watchHealth(url);
      const over = setTimeout(seconds * 1000);
      await startCompanion(own, cores, 'stress/attackers', { url, name, clients } satisfies AttackOrder).read();
      await over;
      return { growth: readGrowth(), health: await watch.stop() };
    });
    const row = { id: 'hostile', rounds: `${seconds} s` };
    const memory = { ...row, work: `${clients} clients that ${work}: memory growth`, unit: ' MiB', ours: [growth] };
    const slowest = { ...row, work: 'slowest GET /health on a new connection', unit: ' ms', ours: [health] };
    findings.push(
      { ...memory, goals: [{ of: 'value', atMost: 400 }] },
      { ...slowest, goals: [{ of: 'value', atMost: 1000 }] },
    );
  }
  return findings;
};
