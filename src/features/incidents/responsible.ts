import { toUserTarget } from '../../kit/people.ts';
import type { StoredIncident } from './incident.ts';

/** Returns the people and destinations responsible now: who acknowledged the incident, or whom the latest step addresses. */
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

/** True for an incident that a user acknowledged or was asked to help with, or that addresses the user. */
export const isOf = (user: string, incident: StoredIncident): boolean => {
  const { acknowledged, responders = [], addressed = {}, openings } = incident;
  const own = `person:${user}`;
  if (responders.includes(user) || (acknowledged && toUserTarget(acknowledged.by) === own)) return true;
  const address = Object.hasOwn(addressed, own) ? addressed[own] : undefined;
  return address?.opening === openings && address.reason !== 'takeOver';
};
