import type { AlertEntry } from 'signalbox/client';
import { createFilterTest } from '../../src/lib/wildcards.ts';
import { text } from '../strings/index.ts';
import { fromServer } from '../zone.ts';

/** Search criteria. Undefined and empty strings do not filter. */
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

/** True if a server search with this filter would find the alert. */
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

/** Maximum number of characters of a message in a list. The dialog shows the full message. */
const mostShown = 400;

/** Returns the message for a list, or a placeholder for an empty message. */
export const toAlertLine = ({ message }: AlertEntry): string =>
  /[^\s\p{C}]/u.test(message) ? message.slice(0, mostShown) : text.alerts.noMessage;

export const toTimeOf = ({ time, timestamp }: AlertEntry): Date => new Date(fromServer(time ?? timestamp));
