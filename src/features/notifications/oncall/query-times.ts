import { HttpError } from '../../../http/errors.ts';
import { requireTime } from '../../../http/text-forms.ts';
import { dayMs } from '../../../lib/units.ts';

/** Maximum milliseconds from now. Computing handovers for hundreds of years would take too long. */
const farthestMs = 5 * 366 * dayMs;

const usualDays = 28;
const mostDays = 400;

/** Parses a time as Unix milliseconds. Default: now. Throws an HttpError if the time is invalid or too far away. */
export const readNearTime = (name: string, text: string | undefined, clock: () => Date): number => {
  const now = clock().getTime();
  const time = text === undefined ? now : requireTime(name, text);
  if (Math.abs(time - now) <= farthestMs) return time;
  throw new HttpError('invalid', `${name} must be within five years of now`);
};

/**
 * Parses the period from `from` to the parameter with the given name. `from` defaults to now, and the end to four weeks
 * later. Throws an HttpError if a time is invalid.
 */
export const readSpan = (
  fromText: string | undefined,
  [name, text]: readonly [name: string, text: string | undefined],
  clock: () => Date,
): [from: number, until: number] => {
  const from = readNearTime('from', fromText, clock);
  const until = text === undefined ? from + usualDays * dayMs : requireTime(name, text);
  if (until <= from) throw new HttpError('invalid', `${name} must be after from`);
  if (until - from <= mostDays * dayMs) return [from, until];
  throw new HttpError('invalid', `${name} must be at most ${mostDays} days after from`);
};
