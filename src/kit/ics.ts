import ICAL from 'ical.js';

export interface CalendarEvent {
  uid: string;
  summary: string;
  start: Date;
  end: Date;
}

interface CalendarOptions {
  name: string;
  /** Part of signalbox that writes the calendar. */
  product: string;
  changedAt: Date;
  /** True if calendar programs remind the user an hour before an event. */
  hasReminders?: boolean;
}

/** Writes a calendar as iCalendar. Loaded with the first request for a calendar. */
export const writeCalendar = (events: readonly CalendarEvent[], options: CalendarOptions): string => {
  const { name, product, changedAt, hasReminders = false } = options;
  const toTime = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;
  const toText = (key: string, value: string) => [key, {}, 'text', value];
  const toDateTime = (key: string, date: Date) => [key, {}, 'date-time', toTime(date)];
  const components = events.map(({ uid, summary, start, end }) => {
    const alarm = [toText('action', 'DISPLAY'), ['trigger', {}, 'duration', '-PT1H'], toText('description', summary)];
    const times = [toDateTime('dtstamp', changedAt), toDateTime('dtstart', start), toDateTime('dtend', end)];
    const properties = [toText('uid', uid), ['sequence', {}, 'integer', 0], ...times, toText('summary', summary)];
    return ['vevent', properties, hasReminders ? [['valarm', alarm, []]] : []];
  });
  const properties = [
    toText('version', '2.0'),
    toText('prodid', `-//signalbox//${product}//EN`),
    toText('name', name),
    toText('x-wr-calname', name),
    ['refresh-interval', {}, 'duration', 'PT1H'],
    ['x-published-ttl', {}, 'unknown', 'PT1H'],
  ];
  return ICAL.stringify(['vcalendar', properties, components]);
};
