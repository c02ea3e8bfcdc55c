import { ask, createPost } from '../support/ask.ts';
import type { Cores } from '../support/cores.ts';
import type { Finding } from '../support/finding.ts';
import { createLoad } from '../support/load.ts';
import { measureP99 } from '../support/probe.ts';
import { readCpuMs } from '../support/process-cost.ts';
import type { Scope } from '../support/scope.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';

/**
 * A task update with a body of 16 KiB of nested lists that are ignored: it costs much more to process than to send or
 * to read, and fits into what a connection takes at once.
 */
const depth = 8000;
const body = `{"Title":"x","filling":${'['.repeat(depth)}${']'.repeat(depth)}}`;
/** Enough connections, each asking again at once, that the server is the one that refuses. */
const connections = 3000;
const seconds = 30;

/** Far more work than the server can do: what it still does, and how soon it is as quick as before. */
export const measureOverload = async (scope: Scope, cores: Cores | undefined): Promise<Finding[]> => {
  const load = createLoad(scope.folder, cores);
  const { url: base, pid } = await startSignalbox(scope, cores, { flags: ['--max-connections', '6000'] });
  await ask(createPost(`${base}/api/tasks`, newTask));
  const url = `${base}/api/tasks/1`;
  const headers = { 'content-type': 'application/json' };
  const measure = async (clients: number, duration: number) => {
    const before = readCpuMs(pid);
    const request = { url, method: 'PUT', body, headers, connections: clients, isRefused: 'some' } as const;
    const { answers, perSecond } = await load(request, duration);
    return { perSecond, cpuMs: (readCpuMs(pid) - before) / answers };
  };
  await measure(64, 5);
  const idle = await measureP99(url);
  const peak = await measure(64, 8);
  const overloaded = await measure(connections, seconds);
  const after = await measureP99(url);
  const row = { id: 'overload', rounds: `${seconds} s` };
  return [
    {
      ...row,
      work: `PUT /api/tasks/1 on ${connections} connections, those that succeed`,
      unit: '/s',
      ours: [overloaded.perSecond],
      beside: { name: 'on 64', figures: [peak.perSecond] },
      cpuRatios: [peak.cpuMs / overloaded.cpuMs],
      goals: [{ of: 'ratio', atLeast: 0.9 }],
    },
    {
      ...row,
      work: 'p99 of GET /api/tasks/1 right after it',
      unit: ' ms',
      ours: [after],
      beside: { name: 'before', figures: [idle] },
      goals: [{ of: 'ratio', atMost: 2 }],
    },
  ];
};
