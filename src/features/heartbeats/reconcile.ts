import type { AlertSource } from '../../kit/alert-source.ts';
import { readIdTime } from '../../storage/journal/line.ts';
import { heartbeatFormat, toHeartbeatName } from './alert.ts';
import type { HeartbeatStore } from './store.ts';

/** Adds the missing records for alerts that an earlier process raised or resolved just before it was killed. */
export const reconcileAlerts = async (
  alerts: Pick<AlertSource, 'listRaised'>,
  store: Pick<HeartbeatStore, 'find' | 'append'>,
  now: number,
): Promise<void> => {
  for (const [fingerprint, { id, ids, level, isResolved }] of await alerts.listRaised(heartbeatFormat)) {
    const state = store.find(toHeartbeatName(fingerprint));
    if (!state) continue;
    const { name, since, seq, problem, told } = state;
    // A raised alert may be missing from the log because it is still waiting for a database.
    if (isResolved ? !told || !ids.includes(told.alert) : told) continue;
    const at = readIdTime(id) ?? now;
    // A problem that arose after the alert still needs its own alert.
    const isLater = problem !== null && problem.at > at;
    const about = { alert: isResolved ? null : id, level, problem: isLater ? problem.seq - 1 : seq };
    await store.append({ type: 'told', name, since, at, ...about });
  }
};
