import Type from 'typebox';
import { MiB } from '../../../lib/units.ts';

/** Days for which a new log keeps alerts by default. */
export const defaultRetainDays = 400;

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

/** Settings of the log of alerts, with their defaults. */
export const alertLogSettings = {
  resolveTimeout: Type.Number({
    minimum: 1,
    maximum: 7 * 24 * 3600,
    default: 300,
    description:
      'Seconds after which an alert of `POST /api/v2/alerts` without `endsAt` is resolved, unless its sender repeats it.',
  }),
  alertsSync: Type.Boolean({
    default: true,
    description: 'Respond only once the alert is on disk; off is faster, but a power cut can lose alerts.',
  }),
  alertsSegmentBytes: Type.Integer({
    minimum: 4096,
    default: 64 * MiB,
    description: 'Maximum size of a log file in bytes; the log continues in a new file.',
  }),
  alertsRetainSegments: retention('Maximum number of closed log files to keep; 0 keeps all.'),
  alertsRetainBytes: retention('Maximum bytes of closed log files to keep; 0 keeps all.'),
  alertsRetainDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `Days to keep an alert; 0 keeps all. By default ${defaultRetainDays}; a log of version 1.0 keeps all. Whole files are deleted, up to a day later.`,
    }),
  ),
  alertsQueueCount: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'Maximum number of alerts waiting for the disk; further alerts get 503.',
  }),
  alertsQueueBytes: Type.Integer({
    minimum: 4 * MiB,
    default: 32 * MiB,
    description: 'Maximum bytes of alerts waiting for the disk; further alerts get 503.',
  }),
  alertsMinFreeBytes: Type.Integer({
    minimum: 0,
    default: MiB,
    description: 'Minimum free bytes on the file system; with less free space, alerts get 503.',
  }),
  spool: Type.Boolean({
    default: true,
    description:
      'With a shared database: keep alerts in `dataDir` while the database cannot be used. Turn off if the disk is not persistent; alerts then get 503.',
  }),
};
