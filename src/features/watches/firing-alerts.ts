import { ownSender } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';

/** Firing alert of a watch in the log of alerts. */
export interface FiringWatchAlert {
  id: string;
  level: string;
}

/**
 * Reads the firing alerts of the watches by fingerprint. An alert that has been firing for long may be far from the end
 * of the log. It is then read from its incident.
 */
export const readFiringAlerts = async (
  alerts: Pick<AlertSource, 'listRaised'>,
  incidents: Pick<IncidentSource, 'catchUp' | 'listUnsettled'>,
): Promise<Map<string, FiringWatchAlert>> => {
  const firing = new Map<string, FiringWatchAlert>();
  await incidents.catchUp();
  for (const { sender, source, state, about, lastAlert, level } of await incidents.listUnsettled()) {
    const isOwn = sender === ownSender && source.startsWith('watch/') && state !== 'resolved';
    if (isOwn) firing.set(about, { id: lastAlert, level });
  }
  for (const [fingerprint, { id, level, isResolved }] of await alerts.listRaised('watch')) {
    if (!isResolved) firing.set(fingerprint, { id, level });
  }
  return firing;
};
