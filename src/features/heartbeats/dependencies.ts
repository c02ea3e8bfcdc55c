import type { DependencySource } from '../../kit/dependencies.ts';
import type { HeartbeatAlerter } from './alerter.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { HeartbeatStore } from './store.ts';

/** Milliseconds from the end of a heartbeat's grace period to its alert. */
const detectionMs = 2000;

interface HeartbeatDependencyParts {
  store: Pick<HeartbeatStore, 'find'>;
  keeper: HeartbeatKeeper;
  alerter: Pick<HeartbeatAlerter, 'judge'>;
  isRead(): boolean;
}

/** Creates the source of dependencies of heartbeats. */
export const createHeartbeatDependencies = (parts: HeartbeatDependencyParts): DependencySource => {
  const { store, keeper, alerter, isRead } = parts;
  return {
    kind: 'heartbeat',
    list: () => keeper.list().map(({ name, definition: { dependsOn } }) => ({ name, dependsOn })),
    find: (name) => keeper.find(name)?.definition,
    isRead,
    onChanged: (listener) => keeper.onChanged(listener),
    isFailure: () => true,
    knownAt: (name, since, graceMs) => {
      const known = keeper.find(name);
      const state = store.find(name);
      if (!known || state?.since !== known.since || (state.lastSuccessAt ?? 0) >= since) return since;
      const { status, dueAt } = alerter.judge(known);
      if (dueAt === null || status === 'paused') return since;
      const detectedAt = dueAt + known.times.graceAt(dueAt) + detectionMs;
      return Math.max(since, Math.min(since + graceMs, detectedAt));
    },
  };
};
