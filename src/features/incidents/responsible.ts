import { joinTarget, toUserTarget } from '../../kit/people.ts';
import type { StoredIncident } from './incident.ts';

/**
 * Returns the people and destinations that are responsible now: the acknowledger of the incident, or else the targets
 * of the latest step.
 */
export const findResponsible = ({
  state,
  acknowledged,
  addressed = {},
  openings,
  escalation,
}: StoredIncident): string[] => {
  if (state === 'resolved') return [];
  if (acknowledged) return [toUserTarget(acknowledged.by) ?? acknowledged.by];
  if (escalation?.opening !== openings) return [];
  return Object.entries(addressed)
    .filter(([, { opening, at }]) => opening === openings && at >= escalation.at)
    .filter(([, { reason }]) => reason === 'step')
    .map(([target]) => target);
};

/** True if an incident concerns the user, who has acknowledged it, was addressed by it, or was asked to help. */
export const isOf = (user: string, incident: StoredIncident): boolean => {
  const { acknowledged, responders = [], addressed = {}, openings } = incident;
  const own = joinTarget('person', user);
  if (responders.includes(user) || (acknowledged && toUserTarget(acknowledged.by) === own)) return true;
  const address = Object.hasOwn(addressed, own) ? addressed[own] : undefined;
  return address?.opening === openings && address.reason !== 'takeOver';
};
