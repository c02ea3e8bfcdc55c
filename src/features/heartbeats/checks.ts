import type { CheckReading, CheckSource } from '../../kit/availability.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import { describeProblem, toSubject } from './alert.ts';
import type { HeartbeatAlerter } from './alerter.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import type { HeartbeatStatus } from './judge.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { HeartbeatStore } from './store.ts';

interface CheckParts {
  store: Pick<HeartbeatStore, 'find' | 'onChanged'>;
  keeper: HeartbeatKeeper;
  alerter: Pick<HeartbeatAlerter, 'judge' | 'hasBegun'>;
  lease: Pick<Lease, 'isHeld'>;
  /** True once runtime heartbeats have been read. */
  isRead(): boolean;
  clock: () => Date;
}

/** Creates the source of heartbeat states for the availability feature. */
export const createHeartbeatChecks = (parts: CheckParts): CheckSource => {
  const { store, keeper, alerter, lease, isRead, clock } = parts;
  return {
    kind: 'heartbeat',
    listDefined: () => (isRead() ? keeper.list() : undefined),
    find: (name) => {
      const known = keeper.find(name);
      return known && { createdAt: known.since, subject: toSubject(known) };
    },
    listPlaces: () => (lease.isHeld() && alerter.hasBegun ? [''] : []),
    read: (name) => {
      const known = keeper.find(name);
      if (!known) return undefined;
      const found = store.find(name);
      const state = found?.since === known.since ? found : undefined;
      const { status } = alerter.judge(known);
      return { createdAt: known.since, place: '', ...toReading(known, state, status, clock().getTime()) };
    },
    onChanged: (listener) => {
      store.onChanged((name) => listener(name === '' ? undefined : name));
      keeper.onChanged(() => listener(undefined));
    },
  };
};

const toReading = (
  known: KnownHeartbeat,
  state: HeartbeatState | undefined,
  status: HeartbeatStatus,
  now: number,
): Pick<CheckReading, 'state' | 'at' | 'cause'> => {
  switch (status) {
    case 'new':
      return { state: 'unknown', at: now };
    case 'paused':
      return { state: 'unknown', at: state?.paused?.at ?? now };
    case 'down': {
      const problem = state?.problem;
      if (!state || !problem) return { state: 'down', at: now };
      return { state: 'down', at: problem.at, cause: describeProblem(known, state, problem) };
    }
    default:
      return { state: 'up', at: state?.base ?? now };
  }
};
