import type { HostHeartbeat } from '../../kit/host-report/report-schema.ts';
import type { HeartbeatAlerter } from './alerter.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { HeartbeatStore } from './store.ts';

interface ReportedParts {
  store: Pick<HeartbeatStore, 'find'>;
  keeper: Pick<HeartbeatKeeper, 'list'>;
  alerter: Pick<HeartbeatAlerter, 'judge'>;
  clock: () => Date;
}

/** Lists the heartbeats of this machine for its hub, by name. */
export const listReported = ({ store, keeper, alerter, clock }: ReportedParts): HostHeartbeat[] => {
  const now = clock().getTime();
  return keeper.list().map((known) => {
    const { lastPingAt } = store.find(known.name) ?? {};
    const age = typeof lastPingAt === 'number' ? Math.max(0, Math.round((now - lastPingAt) / 1000)) : null;
    return { name: known.name, state: alerter.judge(known).status, pingAge: age };
  });
};
