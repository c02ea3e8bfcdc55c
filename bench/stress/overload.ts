import { join } from 'node:path';
import { startCompanion } from '../support/companion.ts';
import type { Cores } from '../support/cores.ts';
import { type Sample, takeSamples, toP99 } from '../support/probe.ts';
import { readCpuMs } from '../support/process-cost.ts';
import type { Scope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { writeSeed } from '../support/tasks.ts';
import { watchResident } from './memory.ts';
import type { OpenLoopFigures, OpenLoopOrder } from './open-loop.ts';
import { type Overload, type Rate, toFindings } from './overload-findings.ts';
import type { Part } from './part.ts';

/** What is asked for is a list of so many: more work to answer than to ask. */
const tasks = 200;
const peakConnections = 64;
const peakSeconds = 8;
/** So many that it is the server that refuses. */
const connections = 3000;
const seconds = 60;
const times = 2;
/** Milliseconds between requests that watch the server, and seconds that they go on after the load. */
const interval = 20;
const afterwards = 5;

interface Loaded {
  scope: Scope;
  cores: Cores | undefined;
  server: Server;
}

/** Twice as much work as the server can do, for a minute. */
export const overload: Part = {
  name: 'overload',
  measure: async (scope, cores) => {
    const seed = join(scope.folder, 'tasks.json');
    await writeSeed(seed, tasks);
    const server = await startSignalbox(scope, cores, {
      flags: ['--seed', seed, '--max-connections', String(2 * connections)],
    });
    const loaded = { scope, cores, server };
    const peak = async () =>
      (await drive(loaded, { connections: peakConnections, seconds: peakSeconds })).rate;
    await peak();
    const idle = toP99(await watch(server, peakSeconds), server.url);
    const before = await peak();
    const pressed = await press(loaded, times * before.perSecond);
    return toFindings({ ...pressed, idle, peaks: [before, await peak()] });
  },
};

const press = async (
  loaded: Loaded,
  perSecond: number,
): Promise<Pick<Overload, 'rate' | 'figures' | 'samples' | 'resident'>> => {
  const [samples, resident, { rate, figures }] = await Promise.all([
    watch(loaded.server, seconds + afterwards),
    watchResident(loaded.server.pid, seconds),
    drive(loaded, { connections, perSecond, seconds }),
  ]);
  return { rate, figures, samples, resident };
};

/** Asks for one task now and then. */
const watch = ({ url }: Server, duration: number): Promise<Sample[]> =>
  takeSamples(`${url}/api/tasks/1`, duration, interval);

/** Makes load; answers what came of it, and the rate of good answers with their price in processor time. */
const drive = async (
  { scope, cores, server }: Loaded,
  order: Omit<OpenLoopOrder, 'url'>,
): Promise<{ figures: OpenLoopFigures; rate: Rate }> => {
  const url = `${server.url}/api/tasks?limit=${tasks}`;
  const before = readCpuMs(server.pid);
  const figures = await startCompanion<OpenLoopFigures>(scope, cores, 'open-loop', { ...order, url }).read();
  const good = figures.statuses[200] ?? 0;
  const cpuMs = (readCpuMs(server.pid) - before) / good;
  return { figures, rate: { perSecond: good / figures.seconds, cpuMs } };
};
