import { computed } from '@preact/signals';
import { zoneChoice } from './preferences.ts';
import { serverFacts } from './routes.ts';

/** The browser's time zone, such as `Europe/Berlin`. */
const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Time zone of the server. Undefined if not reported, or unknown to the browser. */
const serverZone = computed(() => {
  const { timeZone } = serverFacts;
  return timeZone !== undefined && isKnown(timeZone) ? timeZone : undefined;
});

/** Time zone of displayed and typed times. */
export const zone = computed(() => (zoneChoice.value === 'server' && serverZone.value) || browserZone);

/** Zones to choose from. Leaves out the server's zone if it equals the browser's. */
export const zones = computed(() => ({
  browser: browserZone,
  server: serverZone.value === browserZone ? undefined : serverZone.value,
}));

const isKnown = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
};

/** Formats the offset of a zone at a time: `UTC+9`, or `UTC`. */
export const toOffset = (name: string, at: number): string => {
  const parts = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'shortOffset' }).formatToParts(at);
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? '').replace('GMT', 'UTC');
};

/** Returns the wall-clock time in a zone, as the milliseconds at which UTC shows the same time. */
const toWallClock = (at: number, name: string): number => {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const read = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const parts = format.formatToParts(at);
  return Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'));
};

/** Converts a time such as `2026-01-31T09:30` in a zone to milliseconds since 1970. NaN if empty. */
const toInstant = (written: string, name: string): number => {
  const wall = Date.parse(`${written}Z`);
  if (Number.isNaN(wall)) return wall;
  const guess = wall - (toWallClock(wall, name) - wall);
  // The offset at the first guess may be different.
  return guess - (toWallClock(guess, name) - wall);
};

/** Parses a time typed in the displayed zone. */
export const fromTyped = (written: string): number => toInstant(written, zone.value);

/** Formats a time for a field, in the displayed zone. */
export const toTyped = (at: number): string => new Date(toWallClock(at, zone.value)).toISOString().slice(0, 16);

/** Parses a timestamp from the server. Old routes of the API return times without an offset, in the server's zone. */
export const fromServer = (written: string): number =>
  /(?:Z|[+-]\d\d:?\d\d)$/i.test(written) ? Date.parse(written) : toInstant(written, serverZone.value ?? browserZone);

/**
 * Returns the first time, at or after this one, at which the clock in the displayed zone shows a multiple of `hours`.
 * With 24 hours, this is midnight.
 */
export const ceilTime = (at: number, hours: number): number => {
  const step = hours * 3_600_000;
  const wall = Math.ceil(toWallClock(at, zone.value) / step) * step;
  return fromTyped(new Date(wall).toISOString().slice(0, 19));
};
