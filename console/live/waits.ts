import type { IncidentNotification } from 'signalbox/client';
import { untilTime } from '../clock.ts';
import { toCount, toDuration, toMinute } from '../format.ts';
import { text } from '../strings/index.ts';

const words = text.notifications;

type Next = NonNullable<IncidentNotification['next']>;

/** Describes a notification's due time, or the reason for its delay: `in 4 min 5 s, unless acknowledged before`. */
export const describeWait = ({ waitsFor, dueAt, attempts, error }: Omit<Next, 'what'>): string => {
  const { waits } = words;
  if (waitsFor === 'silence' || waitsFor === 'offDuty' || waitsFor === 'cause') return waits[waitsFor];
  if (waitsFor === 'hours') return dueAt ? waits.hours(toMinute(Date.parse(dueAt))) : waits.hoursUnknown;
  const wait = dueAt ? untilTime(Date.parse(dueAt)) / 1000 : 0;
  const when = wait >= 1 ? words.inTime(toDuration(wait)) : words.now;
  if (attempts > 0) {
    const count = toCount(attempts);
    return error ? waits.retryBecause(count, when, error) : waits.retry(count, when);
  }
  if (waitsFor === 'receiver' || wait < 1) return waits.sending;
  return waitsFor === 'grouping' ? waits.grouping(when) : waits.untaken(when);
};
