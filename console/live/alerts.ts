import type { AlertEntry } from 'signalbox/client';
import { createFilterTest } from '../../src/lib/wildcards.ts';
import { text } from '../strings/index.ts';
import { fromServer } from '../zone.ts';

/** What is searched for; a text that is undefined or empty is no filter. */
export interface AlertFilter {
  severity?: string | undefined;
  level?: string | undefined;
  source?: string | undefined;
  hostname?: string | undefined;
  status?: string | undefined;
  q?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** True for alerts that a search with this filter would find. */
export const alertMatches = (alert: AlertEntry, filter: AlertFilter): boolean => {
  const { q, since, until, ...exact } = filter;
  const time = toTimeOf(alert).getTime();
  return (
    Object.entries(exact).every(
      ([name, value]) => !value || createFilterTest(value)(`${alert[name as keyof AlertEntry] ?? ''}`),
    ) &&
    (!q || alert.message.toLowerCase().includes(q.toLowerCase())) &&
    (!since || time >= Date.parse(since)) &&
    (!until || time < Date.parse(until))
  );
};

/** Characters of a message in a list; the whole of it is in the alert. */
const mostShown = 400;

/** The message for a list, which is never without anything to see. */
export const toAlertLine = ({ message }: AlertEntry): string =>
  /[^\s\p{C}]/u.test(message) ? message.slice(0, mostShown) : text.alerts.noMessage;

export const toTimeOf = ({ time, timestamp }: AlertEntry): Date => new Date(fromServer(time ?? timestamp));
