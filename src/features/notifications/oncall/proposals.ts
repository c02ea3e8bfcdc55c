import { createHash } from 'node:crypto';
import { dayMs } from '../../../lib/units.ts';
import type { Absences } from './absences.ts';
import { intersect, type Period } from './layer.ts';
import { mostShifts, type Rotation } from './rotation.ts';
import type { Rotations } from './rotations.ts';

/** Number of days ahead to propose overrides for. */
const daysAhead = 90;

/** Shift, or part of a shift, during which the person on call is away. */
export interface Proposal extends Period {
  id: string;
  rotation: string;
  person: string;
  /** Next person in the rotation who is not away. Undefined if there is none. */
  substitute: string | undefined;
}

/** Returns overrides to propose for the shifts of people who are away, earliest first. */
export const listProposals = (rotations: Rotations, absences: Absences, now: number): Proposal[] =>
  rotations
    .list()
    .flatMap((rotation) => (rotation.kind === 'person' ? listOfRotation(rotation, absences, now) : []))
    .sort((one, other) => one.startsAt - other.startsAt);

const listOfRotation = (rotation: Rotation, absences: Absences, now: number): Proposal[] => {
  const isAway = rotation.members.some((member) => absences.listOf(member).length > 0);
  if (!isAway) return [];
  const within = { startsAt: now, endsAt: now + daysAhead * dayMs };
  return rotation.listShifts(within.startsAt, within.endsAt, mostShifts).flatMap(({ member, ...shift }) => {
    if (member === undefined) return [];
    return absences.listOf(member).flatMap((absence) => {
      const part = intersect(intersect(shift, within), absence);
      if (part.endsAt <= part.startsAt) return [];
      const substitute = findSubstitute(rotation, absences, member, part);
      return [{ id: toId(rotation, member, part), rotation: rotation.name, person: member, substitute, ...part }];
    });
  });
};

const findSubstitute = (rotation: Rotation, absences: Absences, person: string, part: Period): string | undefined => {
  const { members } = rotation;
  const index = members.indexOf(person);
  const order = [...members.slice(index + 1), ...members.slice(0, Math.max(0, index))];
  return order.find(
    (other) =>
      other !== person &&
      absences.listOf(other).every(({ startsAt, endsAt }) => endsAt <= part.startsAt || startsAt >= part.endsAt),
  );
};

/**
 * Creates an id that does not depend on the start of the shift. During a shift, the reported start moves with the
 * clock.
 */
const toId = ({ name }: Rotation, person: string, { endsAt }: Period): string =>
  createHash('sha256').update(`${name} ${person} ${endsAt}`).digest('hex').slice(0, 32);
