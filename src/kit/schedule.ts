import { HttpError } from '../http/errors.ts';
import { resolveTimeZone } from '../lib/time-zone.ts';
import { type CronTimes, createCron } from './cron.ts';

/** Parses a schedule: a five-field cron expression. Throws an HttpError if it is invalid. */
export const parseSchedule = (schedule: string, timeZone: string): CronTimes => {
  const timezone = resolveTimeZone(timeZone);
  if (timezone === undefined) {
    throw new HttpError('invalid', `timeZone must be a name such as Europe/Berlin, not ${timeZone}`);
  }
  let cron: CronTimes;
  try {
    cron = createCron(schedule, { timezone });
  } catch (error) {
    throw new HttpError(
      'invalid',
      `schedule must be a cron expression such as "0 2 * * 6": ${(error as Error).message}`,
    );
  }
  if (!cron.nextRun()) throw new HttpError('invalid', `schedule ${schedule} never matches a date`);
  return cron;
};
