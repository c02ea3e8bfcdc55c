import type { Heartbeat } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { untilTime } from '../clock.ts';
import { toCount, toDuration, toMinute, toRelative } from '../format.ts';
import { describeTimes } from '../live/schedule.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';

/** Describes the schedule in words: `every 1 h`, `every day at 02:00`. */
export const describeExpected = ({ period, schedule, timeZone }: Heartbeat): string =>
  period === null ? describeTimes(schedule ?? '', timeZone) : words.every(toDuration(period));

/** Describes the grace period and the maximum duration in words. */
export const describeLimits = ({ grace, maxRunMinutes }: Heartbeat): string =>
  [
    grace === null ? words.usualGrace : words.grace(toDuration(grace)),
    maxRunMinutes !== null && words.longest(toDuration(maxRunMinutes * 60)),
  ]
    .filter(Boolean)
    .join(', ');

/** Describes the time since an event. */
const toPassed = (at: number): string => toDuration(Math.max(0, -untilTime(at) / 1000));

/** Describes the last and the next event in two lines: `succeeded 5 min. ago` and `next 14:05, in 55 min`. */
export const describeLast = (heartbeat: Heartbeat): [last: string, next: string] => {
  const { state, lastSuccessAt, dueAt, downAt, downReason, lastRun, pausedBy, pausedAt } = heartbeat;
  const success = lastSuccessAt
    ? words.succeeded(toRelative(Math.min(0, untilTime(Date.parse(lastSuccessAt)))))
    : words.noSuccess;
  if (state === 'new') {
    const first = dueAt === null ? undefined : Date.parse(dueAt);
    return [words.never, first === undefined ? '' : words.nextIn(toMinute(first), toDuration(untilTime(first) / 1000))];
  }
  if (state === 'paused') {
    return [success, pausedBy && pausedAt ? words.pausedBy(toPerson(pausedBy), toMinute(Date.parse(pausedAt))) : ''];
  }
  if (state === 'down' && downAt && downReason) {
    const at = Date.parse(downAt);
    const code = downReason === 'failed' && lastRun?.exitCode != null ? words.exit(toCount(lastRun.exitCode)) : '';
    return [
      [words.downSince(toMinute(at), toPassed(at)), words.reasons[downReason], code].filter(Boolean).join(', '),
      success,
    ];
  }
  const due = dueAt === null ? undefined : Date.parse(dueAt);
  if (due === undefined) return [success, ''];
  const left = untilTime(due);
  return [
    success,
    left < 0 ? words.wasDue(toMinute(due), toPassed(due)) : words.nextIn(toMinute(due), toDuration(left / 1000)),
  ];
};
