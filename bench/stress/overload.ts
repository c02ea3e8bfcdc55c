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
 * A task update with a body of 16 KiB of nested lists that are ignored. It costs much more to process than to send or
 * to read, and fits into what a connection takes at once. A body that must be read before it can be refused cannot be
 * cheaper.
 */
const depth = 8000;
const body = `{"Title":"x","filling":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const peakConnections = 64;
const peakSeconds = 8;
/** Enough connections that the server is the one that refuses. */
const connections = 3000;
const seconds = 60;
const times = 2;
/** Milliseconds between requests that watch the server, and seconds for which they continue after the load. */
const interval = 20;
const afterwards = 5;

interface Loaded {
  scope: Scope;
  cores: Cores | undefined;
  server: Server;
}

/** Twice the work that the server can do, for a minute. */
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

/** Requests one task at intervals. */
const watch = ({ url }: Server, duration: number): Promise<Sample[]> =>
  takeSamples(`${url}/api/tasks/1`, duration, interval);

/** Starts a load; resolves to its figures, and to the rate of successful responses with their processor time. */
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
