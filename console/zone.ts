import { computed } from '@preact/signals';
import { zoneChoice } from './preferences.ts';
import { openApi } from './routes.ts';

/** The browser's time zone, such as `Europe/Berlin`. */
const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zone of the server; undefined if it does not say or this browser does not know it. */
const serverZone = computed(() => {
  const named = openApi.value?.['x-signalbox-time-zone'];
  return named !== undefined && isKnown(named) ? named : undefined;
});

/** The zone that all times are shown in, and that typed times are meant in. */
export const zone = computed(() => (zoneChoice.value === 'server' && serverZone.value) || browserZone);

/** The zones to choose from: the server's is no choice if it is the browser's. */
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

/** `UTC+9`, or `UTC`: how far a zone is from UTC at this time. */
export const toOffset = (name: string, at: number): string => {
  const parts = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'shortOffset' }).formatToParts(at);
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? '').replace('GMT', 'UTC');
};

/** The clock and calendar of a zone, as if they were those of UTC, in milliseconds. */
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

/** Milliseconds since 1970 of a time such as `2026-01-31T09:30` in a zone; NaN for no time. */
const toInstant = (written: string, name: string): number => {
  const wall = Date.parse(`${written}Z`);
  if (Number.isNaN(wall)) return wall;
  const guess = wall - (toWallClock(wall, name) - wall);
  // The offset may have changed in between.
  return guess - (toWallClock(guess, name) - wall);
};

/** A time that the user has typed, in the zone that is shown. */
export const fromTyped = (written: string): number => toInstant(written, zone.value);

/** A time as a field for times has it, in the zone that is shown. */
export const toTyped = (at: number): string => new Date(toWallClock(at, zone.value)).toISOString().slice(0, 16);

/** A time from the server, which has no offset where the API's old routes have it in the server's zone. */
export const fromServer = (written: string): number =>
  /(?:Z|[+-]\d\d:?\d\d)$/i.test(written) ? Date.parse(written) : toInstant(written, serverZone.value ?? browserZone);

/** The start of the first day, or of the first hour that is a multiple of `hours`, at or after this time in the zone shown. */
export const ceilTime = (at: number, hours: number): number => {
  const step = hours * 3_600_000;
  const wall = Math.ceil(toWallClock(at, zone.value) / step) * step;
  return fromTyped(new Date(wall).toISOString().slice(0, 19));
};
