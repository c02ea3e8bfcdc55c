import type { Address, AddressReason, Escalation, EscalationPlace } from '../../kit/incident.ts';
import type { EscalationStep } from '../../kit/incident-source.ts';
import { joinTarget, listNamesOf, toUserTarget } from '../../kit/people.ts';
import type { Draft } from './draft.ts';
import type { StoredIncident } from './incident.ts';
import { acknowledge } from './transitions.ts';

/** Records that a person asked to notify people and destinations. */
export const address = (
  draft: Draft,
  incident: StoredIncident,
  request: {
    at: number;
    by: string;
    targets: readonly string[];
    reason: Exclude<AddressReason, 'step'>;
    comment?: string | undefined;
  },
): StoredIncident => {
  const { at, by, targets, reason, comment } = request;
  const event = { at, type: 'addressed' as const, by, cause: reason, targets: [...targets] };
  const addressed = addTargets(incident, targets, { at, by, reason });
  const responders = [...new Set([...(incident.responders ?? []), ...listNamesOf(targets, 'person')])];
  return draft.change(
    incident,
    { addressed, ...(reason === 'responder' && { responders }) },
    { ...event, ...(comment !== undefined && { comment }) },
  );
};

/** Makes a person the acknowledger of an incident. The former acknowledger is notified. */
export const takeOver = (
  draft: Draft,
  incident: StoredIncident,
  { at, by, comment }: { at: number; by: string; comment?: string | undefined },
): StoredIncident => {
  const former = incident.acknowledged && toUserTarget(incident.acknowledged.by);
  if (former && former === toUserTarget(by)) return incident;
  const taken = acknowledge(draft, incident, { at, by, comment });
  return former ? address(draft, taken, { at, by, targets: [former], reason: 'takeOver' }) : taken;
};

/** Adds a comment. People mentioned in the comment are notified, except its author. */
export const addComment = (
  draft: Draft,
  incident: StoredIncident,
  { at, by, comment, mentions = [] }: { at: number; by: string; comment: string; mentions?: readonly string[] },
): StoredIncident => {
  const commented = draft.change(incident, {}, { at, type: 'comment', by, comment });
  const targets = mentions.map((name) => joinTarget('person', name)).filter((target) => target !== toUserTarget(by));
  if (targets.length === 0 || incident.state === 'resolved') return commented;
  return address(draft, commented, { at, by, targets, reason: 'mention' });
};

/**
 * Records a step of the escalation policy. Has no effect unless the step follows the current position. Two instances,
 * or a retry after a kill, therefore cannot take a step twice.
 */
export const escalate = (
  draft: Draft,
  incident: StoredIncident,
  { at, by, opening, after, place, targets }: EscalationStep & { at: number; by: string },
): StoredIncident => {
  const isNext = incident.state === 'open' && incident.openings === opening && isAt(incident, after);
  if (!isNext) return incident;
  const { policy, round, step } = place;
  const escalation: Escalation = { policy, round, step, at, opening };
  if (policy === null || step === 0) return Object.assign(draft.touch(incident), { escalation });
  const event = { at, type: 'addressed', by, cause: 'step', policy, step, round: round + 1 } as const;
  const addressed = addTargets(incident, targets, { at, by, reason: 'step' });
  return Object.assign(draft.addEvent(incident, { ...event, targets: [...targets] }), { escalation, addressed });
};

/** True if the latest step in this opening has the given position. Null means that no step has been taken. */
const isAt = ({ escalation, openings }: StoredIncident, place: EscalationPlace | null): boolean => {
  if (escalation?.opening !== openings) return place === null;
  const { policy, round, step } = escalation;
  return place?.policy === policy && place.round === round && place.step === step;
};

const addTargets = (
  { addressed = {}, openings }: StoredIncident,
  targets: readonly string[],
  request: Pick<Address, 'at' | 'by' | 'reason'>,
): Record<string, Address> => {
  const all = { ...addressed };
  for (const target of targets) {
    const known = Object.hasOwn(all, target) && all[target]?.opening === openings ? all[target] : undefined;
    const { firstAt, times } = known ?? { firstAt: request.at, times: 0 };
    all[target] = { ...request, firstAt, times: times + 1, opening: openings };
  }
  return all;
};
