import ICAL from 'ical.js';
import { Slice } from '../../../lib/slice.ts';
import { findTimeZone, readOwnTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { intersect, type Period } from './layer.ts';

/**
 * Limits for a calendar: recurrences of one event, recurrences of all events, absences, and milliseconds of processing.
 */
const mostOfOne = 20_000;
const mostOfAll = 100_000;
const mostAbsences = 1000;
const mostMs = 5000;

/** Maximum length of an event in characters. */
const longestEvent = 100_000;

interface FoundAbsences {
  absences: Period[];
  /** Number of events skipped because their recurrence is not supported. */
  skipped: number;
}

/**
 * Reads the absences in a calendar within a period. All events count, except cancelled and transparent ones. Each event
 * is parsed separately, so that a long calendar does not block the server. Rejects with an Error if the calendar
 * exceeds the limits.
 */
export const readAbsences = async (text: string, within: Period): Promise<FoundAbsences> => {
  if (!/^BEGIN:VCALENDAR\r?$/im.test(text.slice(0, 1000))) throw new Error('the response is not a calendar');
  const [slice, begun] = [new Slice(), performance.now()];
  const found: Period[] = [];
  const clocks = new Map<string, ZoneClock>();
  let total = 0;
  let skipped = 0;
  for (const event of listEvents(text)) {
    try {
      for (const period of listPeriods(event, within, clocks)) {
        if (slice.isOver) await slice.giveWay();
        total += 1;
        if (total > mostOfAll || found.length >= mostAbsences) throw new Error('the calendar has too many events');
        if (performance.now() - begun > mostMs) throw new Error('reading the calendar takes too long');
        if (period && period.startsAt < within.endsAt && period.endsAt > within.startsAt) {
          found.push(intersect(period, within));
        }
      }
    } catch (error) {
      if (!(error instanceof UnsupportedRule)) throw error;
      skipped += 1;
    }
    if (slice.isOver) await slice.giveWay();
  }
  return { absences: found.sort((one, other) => one.startsAt - other.startsAt), skipped };
};

/** Error for a recurrence rule that could send the library into an endless search. */
class UnsupportedRule extends Error {}

/** Yields the source of each event. */
function* listEvents(text: string): Generator<string> {
  for (let end = 0; ; ) {
    const begin = text.indexOf('BEGIN:VEVENT', end);
    end = text.indexOf('END:VEVENT', begin) + 'END:VEVENT'.length;
    if (begin < 0 || end < begin) return;
    yield text.slice(begin, end);
  }
}

/** Yields the periods of an event. Yields undefined for each recurrence outside the wanted period. */
function* listPeriods(text: string, within: Period, clocks: Map<string, ZoneClock>): Generator<Period | undefined> {
  if (text.length > longestEvent) throw new Error('an event of the calendar is too long');
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(text)));
  const { component } = event;
  const isAbsence =
    !/^cancelled$/i.test(String(component.getFirstPropertyValue('status'))) &&
    !/^transparent$/i.test(String(component.getFirstPropertyValue('transp')));
  const property = component.getFirstProperty('dtstart');
  if (!isAbsence || !property) return;
  const clock = toClock(property.getFirstParameter('tzid'), clocks);
  const toMs = (time: ICAL.Time): number => {
    const local = Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second);
    return time.zone === ICAL.Timezone.utcTimezone ? local : clock.toFirstTime(local);
  };
  const length = toMs(event.endDate) - toMs(event.startDate);
  if (!event.isRecurring()) {
    yield { startsAt: toMs(event.startDate), endsAt: toMs(event.endDate) };
    return;
  }
  if (!component.getAllProperties('rrule').every((rule) => isUsual(rule.getFirstValue() as ICAL.Recur))) {
    throw new UnsupportedRule();
  }
  const iterator = event.iterator();
  for (let count = 0, time = iterator.next(); time; time = iterator.next()) {
    count += 1;
    const startsAt = toMs(time);
    if (startsAt >= within.endsAt) return;
    if (count > mostOfOne) throw new Error('an event of the calendar recurs too often');
    yield startsAt + length > within.startsAt ? { startsAt, endsAt: startsAt + length } : undefined;
  }
}

/** Parts of recurrence rules, by frequency, that cannot send the library into an endless search. */
const usualParts: Record<string, readonly string[]> = {
  DAILY: [],
  WEEKLY: ['BYDAY'],
  MONTHLY: ['BYMONTHDAY'],
  YEARLY: ['BYMONTH', 'BYMONTHDAY'],
};

const mostInterval = 1000;

const isUsual = ({ freq, interval, parts }: ICAL.Recur): boolean =>
  interval <= mostInterval &&
  Object.keys(parts).every((part) => usualParts[freq]?.includes(part) === true) &&
  usualParts[freq] !== undefined;

/**
 * Returns the clock of the time zone of an event. Dates, times without a zone and unknown zones get the server's clock.
 */
const toClock = (name: string | undefined, clocks: Map<string, ZoneClock>): ZoneClock => {
  const zone = (name !== undefined && findTimeZone(name)) || readOwnTimeZone();
  const clock = clocks.get(zone) ?? new ZoneClock(zone);
  clocks.set(zone, clock);
  return clock;
};
