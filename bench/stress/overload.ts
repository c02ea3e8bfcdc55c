import { ask, createPost } from '../support/ask.ts';
import type { Cores } from '../support/cores.ts';
import { type Sample, takeSamples, toP99 } from '../support/probe.ts';
import { readCpuMs } from '../support/process-cost.ts';
import type { Scope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import { beginLoad } from './load.ts';
import { watchResident } from './memory.ts';
import { watchNewcomers } from './newcomers.ts';
import type { OpenLoopOrder } from './open-loop.ts';
import { type Overload, type Rate, toFindings } from './overload-findings.ts';
import type { Part } from './part.ts';

/**
 * A task is changed by a body of 16 KiB, lists in lists, which are of no use: much more work to answer than to ask or to
 * take in, and it fits into what a connection takes at once. What must be taken in to be refused cannot be had for less.
 */
const depth = 8000;
const body = `{"Title":"x","filling":${'['.repeat(depth)}${']'.repeat(depth)}}`;
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
    const flags = ['--max-connections', String(2 * connections)];
    const server = await startSignalbox(scope, cores, { flags });
    await ask(createPost(`${server.url}/api/tasks`, newTask));
    const loaded = { scope, cores, server };
    await findPeak(loaded);
    const idle = toP99(await watch(server, peakSeconds), server.url);
    const before = await findPeak(loaded);
    const finish = await begin(loaded, { connections, perSecond: times * before.perSecond, seconds });
    const [newcomers, samples, resident, { rate, figures }] = await Promise.all([
      watchNewcomers(server, seconds),
      watch(server, seconds + afterwards),
      watchResident(server.pid, seconds),
      finish(),
    ]);
    const peaks = [before, await findPeak(loaded)];
    return toFindings({ figures, rate, peaks, idle, samples, newcomers, resident });
  },
};

const findPeak = async (loaded: Loaded): Promise<Rate> => {
  const finish = await begin(loaded, { connections: peakConnections, seconds: peakSeconds });
  return (await finish()).rate;
};

/** Asks for one task now and then. */
const watch = ({ url }: Server, duration: number): Promise<Sample[]> =>
  takeSamples(`${url}/api/tasks/1`, duration, interval);

/** Begins a load, which is finished with its figures, and the rate of good answers with their price in processor time. */
const begin = async (
  { scope, cores, server }: Loaded,
  order: Pick<OpenLoopOrder, 'connections' | 'perSecond' | 'seconds'>,
): Promise<() => Promise<Pick<Overload, 'figures' | 'rate'>>> => {
  const url = `${server.url}/api/tasks/1`;
  const finish = await beginLoad(scope, cores, { url, method: 'PUT', body, ...order });
  const before = readCpuMs(server.pid);
  return async () => {
    const figures = await finish();
    const good = figures.statuses[200] ?? 0;
    const cpuMs = (readCpuMs(server.pid) - before) / good;
    return { figures, rate: { perSecond: good / figures.seconds, cpuMs } };
  };
};
