import type { ZoneClock } from '../../../lib/time-zone.ts';
import { Handovers } from './handovers.ts';
import type { HandoverSettings } from './settings.ts';

/** Sequence of planned shifts. The person on call changes at the start of each shift. Times are Unix milliseconds. */
export interface PlannedShifts {
  /** Returns the number of the shift at a time. */
  numberAt(at: number): number;
  /** Returns the start of the shift with this number. Undefined outside the computed years. */
  timeOf(number: number): number | undefined;
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const period = /^(\d{1,3}) (hour|day|week)s?$/;
const clockTime = /^(?:([A-Za-z]{3}) )?([01]?\d|2[0-3]):([0-5]\d)$/;

const mostDays = 366;

/**
 * Creates shifts from a handover: `{every: "2 weeks", at: "Mon 09:00"}` or a cron expression. Shift 0 begins at the first
 * handover at or after `start`. With `isFromStart`, shift 0 contains `start`. Throws an Error that explains the problem.
 */
export const createPlannedShifts = (
  { every, at }: HandoverSettings,
  clock: ZoneClock,
  start: number,
  isFromStart: boolean,
): PlannedShifts => {
  const [, count = '', unit] = period.exec(every) ?? [];
  const { cron, size } = unit === undefined ? { cron: every, size: 1 } : toCron(Number(count), unit as Unit, at);
  if (unit === undefined && at !== undefined)
    throw new Error('handover.at can be used only with periods such as "1 week"');
  const handovers = createHandovers(cron, clock, start);
  const base = isFromStart ? handovers.numberAt(start) : 0;
  return {
    numberAt: (time) => Math.floor((handovers.numberAt(time) - base) / size),
    timeOf: (number) => handovers.timeOf(base + number * size),
  };
};

const createHandovers = (cron: string, clock: ZoneClock, start: number): Handovers => {
  try {
    return new Handovers(cron, clock, start);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`handover.every must be a period such as "1 week", "2 days" or "12 hours", or cron: ${message}`);
  }
};

type Unit = 'hour' | 'day' | 'week';

/**
 * Returns the cron expression of possible handovers, and the number of these handovers per shift: a shift of two weeks
 * spans two weekly handovers.
 */
const toCron = (count: number, unit: Unit, at: string | undefined): { cron: string; size: number } => {
  const usual = unit === 'week' ? 'Mon 09:00' : '09:00';
  const [, name, hour, minute] = clockTime.exec(at ?? usual) ?? [];
  const day = name === undefined ? '*' : days.findIndex((each) => each.toLowerCase() === name.toLowerCase());
  if (hour === undefined || minute === undefined || day === -1 || (name !== undefined) !== (unit === 'week')) {
    throw new Error(`handover.at must be a time such as "${usual}", not ${JSON.stringify(at)}`);
  }
  if (unit === 'hour') {
    if (count < 1 || 24 % count !== 0)
      throw new Error('handover.every must divide a day: 1, 2, 3, 4, 6, 8, 12 or 24 hours');
    const hours = Array.from({ length: 24 / count }, (_, index) => (Number(hour) + index * count) % 24);
    return { cron: `${Number(minute)} ${hours} * * *`, size: 1 };
  }
  if (count < 1 || count * (unit === 'week' ? 7 : 1) > mostDays) {
    throw new Error(`handover.every must be from 1 to ${mostDays} days`);
  }
  return { cron: `${Number(minute)} ${Number(hour)} * * ${day}`, size: count };
};
