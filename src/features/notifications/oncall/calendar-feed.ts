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
  const counts = new Map<string, number>();
  // Parts of a shift are counted from its planned start. Otherwise, later parts would change their UIDs over time.
  const planned = rotation.plannedStartAt(from);
  return rotation.listShifts(Number.isFinite(planned) ? planned : from, until, mostShifts).flatMap((shift) => {
    const { member, startsAt, endsAt } = shift;
    if (member === undefined || (person !== undefined && member !== person)) return [];
    const base = `${rotation.name}-${toBase(rotation, shift)}-${member}`;
    const part = (counts.get(base) ?? 0) + 1;
    counts.set(base, part);
    if (endsAt <= from) return [];
    return [
      {
        uid: `${base}${part > 1 ? `-${part}` : ''}@signalbox`,
        summary: person === undefined ? `${member}: on call in ${rotation.name}` : `On call: ${rotation.name}`,
        start: new Date(Math.max(startsAt, from)),
        end: new Date(Math.min(endsAt, until)),
      },
    ];
  });
};

/** Returns the id of the override, or the planned start of the shift. Neither changes during the shift. */
const toBase = (rotation: Rotation, { startsAt, endsAt, override }: Shift): string => {
  if (override !== undefined) return override;
  const planned = rotation.plannedStartAt(Number.isFinite(startsAt) ? startsAt : endsAt - 1);
  return Number.isFinite(planned) ? `${planned / 1000}` : 'always';
};
