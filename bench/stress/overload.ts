import { ask, createPost } from '../support/requests.ts';
import { measureP99, toTimes } from '../support/rounds.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox } from '../support/server.ts';
import { newTask } from '../support/tasks.ts';

/**
 * Task update with 16 KiB of nested lists that are ignored. Processing the update costs much more than sending or
 * reading it.
 */
const depth = 8000;
const costly = `{"Title":"x","filling":${'['.repeat(depth)}${']'.repeat(depth)}}`;
/**
 * Number of connections. Each repeats its request immediately. This load suffices to make the server refuse requests.
 */
const connections = 3000;
const overloadSeconds = 30;

/** Measures a server with far more work than it can handle: its throughput, and its speed after the load has ended. */
export const measureOverload: Measure = async ({ scope, load }) => {
  const server = await startSignalbox(scope, { flags: ['--max-connections', '6000'] });
  await ask(createPost(`${server.url}/api/tasks`, newTask));
  const url = `${server.url}/api/tasks/1`;
  const update = { ...createPost(url, {}), method: 'PUT', body: costly, isRefused: 'some' } as const;
  await load(update, 5);
  const before = await measureP99({ url });
  const peak = await load(update, 10);
  const { perSecond } = await load({ ...update, connections }, overloadSeconds);
  const after = await measureP99({ url });
  const work = `PUT on ${connections} connections, those that succeed`;
  const rates = { unit: '/s', ours: [perSecond], theirs: [peak.perSecond], rounds: `${overloadSeconds} s` };
  const later = { work: 'p99 of GET /api/tasks/{id} right after it', name: 'before', goal: '≤ 2 ×' };
  return [
    { work, ...rates, name: 'on 64', goal: '≥ 0.9 ×' },
    { ...later, ...toTimes([after], [before]) },
  ];
};
