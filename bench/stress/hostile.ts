import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchMemory } from '../../test/support/memory.ts';
import { startCompanion } from '../support/companion.ts';
import type { Cores } from '../support/cores.ts';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { createScope, type Scope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { createSeedTask } from '../support/tasks.ts';
import type { AttackOrder } from './attackers.ts';
import type { WatchOrder } from './health-watcher.ts';
import type { Part } from './part.ts';

interface Attack extends Omit<AttackOrder, 'url'> {
  work: string;
  /** The server's limit on open files. */
  openFiles?: number;
}

const rows: readonly Attack[] = [
  { name: 'header lines', clients: 40, work: 'pipeline 498 requests with 3,990 empty header lines each' },
  { name: 'header lines', clients: 60, work: 'pipeline 498 requests with 3,990 empty header lines each' },
  { name: 'long headers', clients: 60, work: 'pipeline 498 requests with 190 header lines and 16 KB each' },
  { name: 'short requests', clients: 60, work: 'pipeline 20 MB of requests with 41 bytes each' },
  { name: 'idle', clients: 1050, work: 'send nothing to a server with 1,024 open files', openFiles: 1024 },
  { name: 'not reading', clients: 600, work: 'request lists and do not read' },
  { name: 'bodies', clients: 990, work: 'send 1 MiB without its last byte' },
  { name: 'chunks', clients: 40, work: 'send 1 MiB without its last byte, in chunks of one byte' },
  { name: 'resets', clients: 200, work: 'log in and reset the connection' },
  { name: 'alerts', clients: 32, work: 'list alerts of a level that a log of 0.9 GB does not have' },
];

/** Lists of 9 and 12 MB: more than the socket buffers hold for a client that does not read. */
const listed = 50_000;
const simpleTask = { title: 'Compare the checksums with those of the log. '.repeat(5) };
/** 0.9 GB of log. */
const alerts = 2_000_000;
/** Duration of each attack. */
const seconds = 10;
const goals = {
  growth: [{ of: 'value' as const, atMost: 400 }],
  health: [{ of: 'value' as const, atMost: 1000 }],
};

/** Clients without a token that try to use up memory, connections or time. */
export const hostile: Part = {
  name: 'hostile',
  measure: async (scope, cores) => {
    const dataDir = join(scope.folder, 'data');
    await fillLog(dataDir, alerts);
    const seed = join(scope.folder, 'seed.json');
    const simpleTasks = Array.from({ length: listed }, () => simpleTask);
    const tasks = simpleTasks.map((_, place) => createSeedTask(place, listed));
    await writeFile(seed, JSON.stringify({ tasks, simpleTasks }));
    const findings: Finding[] = [];
    for (const row of rows) {
      process.stderr.write(`  ${row.clients} ${row.name} ...\n`);
      const own = createScope(tmpdir());
      try {
        const { openFiles } = row;
        const options = { flags: ['--seed', seed], dataDir, ...(openFiles !== undefined && { openFiles }) };
        findings.push(...(await measureAttack(own, cores, await startSignalbox(own, cores, options), row)));
      } finally {
        await own.end();
      }
    }
    return findings;
  },
};

const measureAttack = async (
  scope: Scope,
  cores: Cores | undefined,
  { url, pid }: Server,
  { name, clients, work }: Attack,
): Promise<Finding[]> => {
  const readGrowth = watchMemory(pid);
  const watch: WatchOrder = { url, seconds };
  const watcher = startCompanion<number>(scope, undefined, 'health-watcher', watch);
  const order: AttackOrder = { url, name, clients };
  await startCompanion(scope, cores, 'attackers', order).read();
  const health = await watcher.read();
  const growth = readGrowth();
  return [
    {
      id: 'hostile',
      work: `${clients} clients that ${work}: peak memory growth`,
      unit: ' MiB',
      ours: [growth],
      goals: goals.growth,
    },
    {
      id: 'hostile',
      work: 'slowest GET /health on a new connection under attack',
      unit: ' ms',
      ours: [health],
      goals: goals.health,
    },
  ];
};
