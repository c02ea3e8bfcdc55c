import { ask, createPost } from '../support/ask.ts';
import type { Cores } from '../support/cores.ts';
import type { Finding } from '../support/finding.ts';
import { createLoad } from '../support/load.ts';
import { measureP99 } from '../support/probe.ts';
import type { Scope } from '../support/scope.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';

/** A task update with 16 KiB of nested lists that are ignored: it costs much more to process than to send or read. */
const depth = 8000;
const body = `{"Title":"x","filling":${'['.repeat(depth)}${']'.repeat(depth)}}`;
/** Enough connections, each asking again at once, that the server is the one that refuses. */
const connections = 3000;
const seconds = 30;

/** Far more work than the server can do: what it still does, and whether it is as quick as before afterwards. */
export const measureOverload = async (scope: Scope, cores: Cores | undefined): Promise<Finding[]> => {
  const load = createLoad(scope.folder, cores);
  const server = await startSignalbox(scope, cores, { flags: ['--max-connections', '6000'] });
  await ask(createPost(`${server.url}/api/tasks`, newTask));
  const url = `${server.url}/api/tasks/1`;
  const update = { ...createPost(url, {}), method: 'PUT', body, isRefused: 'some' } as const;
  await load(update, 5);
  const before = await measureP99(url);
  const peak = await load(update, 10);
  const { perSecond } = await load({ ...update, connections }, seconds);
  const after = await measureP99(url);
  const row = { id: 'overload', rounds: `${seconds} s` };
  const good = { work: `PUT on ${connections} connections, those that succeed`, unit: '/s', ours: [perSecond] };
  const later = { work: 'p99 of GET /api/tasks/{id} right after it', unit: ' ms', ours: [after] };
  return [
    { ...row, ...good, beside: { name: 'on 64', figures: [peak.perSecond] }, goals: [{ of: 'ratio', atLeast: 0.9 }] },
    { ...row, ...later, beside: { name: 'before', figures: [before] }, goals: [{ of: 'ratio', atMost: 2 }] },
  ];
};
