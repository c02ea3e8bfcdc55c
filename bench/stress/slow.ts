import { join } from 'node:path';
import { startCompanion } from '../support/companion.ts';
import type { Finding } from '../support/finding.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { writeSeed } from '../support/tasks.ts';
import { createBystanders } from './bystanders.ts';
import type { Part } from './part.ts';
import type { SlowKind, SlowOrder, SlowReport } from './slow-clients.ts';

/** Nine megabytes of tasks: more than the socket buffers hold for a client that does not read. */
const tasks = 50_000;
/** Fewer readers: on the loopback device the kernel buffers up to 4 MB for each. */
const counts: SlowOrder['counts'] = { headers: 1000, body: 1000, reading: 250 };
/**
 * Seconds within which they are closed: the server's limit, one until it checks, one until it is noticed, and one to
 * spare.
 */
const limits: SlowOrder['counts'] = { headers: 13, body: 33, reading: 33 };
const patience = 60;
const path = '/api/tasks/1';
const warmUpSeconds = 2;
const idleSeconds = 10;
/** As long as a body may take. */
const slowSeconds = 28;

type Closings = Record<SlowKind, { closed: number; last: number }>;

/** Clients that send or read almost nothing, and the effect on others. */
export const slow: Part = {
  name: 'slow',
  measure: async (scope) => {
    const seed = join(scope.folder, 'seed.json');
    await writeSeed(seed, tasks);
    const flags = ['--seed', seed, '--max-connections', '4000'];
    const server = await startSignalbox(scope, undefined, { flags });
    const other = await startSignalbox(scope, undefined, { flags });
    await createBystanders(server, other, path).askIdle(warmUpSeconds);
    const bystanders = createBystanders(server, other, path);
    await bystanders.askIdle(idleSeconds);
    const port = Number(new URL(server.url).port);
    const order: SlowOrder = { port, path: `/api/tasks?limit=${tasks}`, counts };
    const clients = startCompanion<SlowReport>(scope, undefined, 'slow-clients', order);
    const first = await clients.read();
    const [closings] = await Promise.all([watch(first, clients.read), bystanders.askUnderLoad(slowSeconds)]);
    await bystanders.askIdle(idleSeconds);
    return [...toClosed(closings), ...bystanders.toFindings('slow')];
  },
};

/** How many of each kind the server closes, and when the last one is closed. */
const watch = async (first: SlowReport, read: () => Promise<SlowReport>): Promise<Closings> => {
  const last = { headers: 0, body: 0, reading: 0 };
  let report = first;
  while (Object.values(report.open).some((open) => open > 0) && report.seconds < patience) {
    for (const kind of kinds) if (report.open[kind] > 0) last[kind] = report.seconds + 1;
    report = await read();
  }
  const toClosing = (kind: SlowKind) => ({ closed: counts[kind] - report.open[kind], last: last[kind] });
  return { headers: toClosing('headers'), body: toClosing('body'), reading: toClosing('reading') };
};

const kinds = Object.keys(counts) as SlowKind[];

const toClosed = (closings: Closings): Finding[] =>
  kinds.flatMap((kind) => [
    {
      id: 'slow',
      work: `connections with slow ${kind} that the server closes, of ${counts[kind]}`,
      unit: '',
      ours: [closings[kind].closed],
      goals: [{ of: 'value', atLeast: counts[kind] }],
    },
    {
      id: 'slow',
      work: `time until the last slow ${kind} connection is closed`,
      unit: ' s',
      ours: [closings[kind].last],
      goals: [{ of: 'value', atMost: limits[kind] }],
    },
  ]);
