import { createHash } from 'node:crypto';
import type { CalendarEvent } from '../../../kit/ics.ts';
import { dayMs } from '../../../lib/units.ts';
import { mostShifts, type Rotation, type Shift } from './rotation.ts';

/** Number of days before and after today in a calendar. */
const daysBefore = 30;
const daysAfter = 180;

/** Document with its entity tag. */
export interface Feed {
  text: string;
  tag: string;
}

/**
 * Writes a calendar with the shifts of rotations, or of one person. An event keeps its UID when overrides change its
 * times. `changedAt` is the time of the last change, in Unix milliseconds.
 */
export const writeFeed = async (
  name: string,
  rotations: readonly Rotation[],
  person: string | undefined,
  { now, changedAt }: { now: number; changedAt: number },
): Promise<Feed> => {
  const { writeCalendar } = await import('../../../kit/ics.ts');
  const today = Math.floor(now / dayMs) * dayMs;
  const events = rotations.flatMap((rotation) => listEvents(rotation, person, today));
  const options = { name, product: 'on call', changedAt: new Date(changedAt), hasReminders: true };
  const text = writeCalendar(events, options);
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` };
};

const listEvents = (rotation: Rotation, person: string | undefined, today: number): CalendarEvent[] => {
  const [from, until] = [today - daysBefore * dayMs, today + daysAfter * dayMs];
  return rotation.listShifts(from, until, mostShifts).flatMap((shift) => {
    const { member, startsAt, endsAt } = shift;
    if (member === undefined || (person !== undefined && member !== person)) return [];
    return [
      {
        uid: `${rotation.name}-${toBase(rotation, shift)}${toPart(rotation, shift)}@signalbox`,
        summary: person === undefined ? `${member}: on call in ${rotation.name}` : `On call: ${rotation.name}`,
        start: new Date(Math.max(startsAt, from)),
        end: new Date(Math.min(endsAt, until)),
      },
    ];
  });
};

/** Returns the id of the override, or the planned start of the shift, with the member. Neither changes over time. */
const toBase = (rotation: Rotation, { member, startsAt, endsAt, override }: Shift): string => {
  if (override !== undefined) return `${override}-${member}`;
  const planned = rotation.plannedStartAt(Number.isFinite(startsAt) ? startsAt : endsAt - 1);
  return `${Number.isFinite(planned) ? planned / 1000 : 'always'}-${member}`;
};

/** Returns the id of the override that interrupted the shift. Empty for the first part of a shift. */
const toPart = (rotation: Rotation, shift: Shift): string => {
  const interruption = findBefore(rotation, shift);
  let before = interruption;
  while (before?.override !== undefined && before.override !== shift.override) before = findBefore(rotation, before);
  const isSame = before !== undefined && toBase(rotation, before) === toBase(rotation, shift);
  return isSame ? `-${interruption?.override}` : '';
};

const findBefore = (rotation: Rotation, { startsAt }: Shift): Shift | undefined =>
  Number.isFinite(startsAt) ? rotation.shiftAt(startsAt - 1) : undefined;
