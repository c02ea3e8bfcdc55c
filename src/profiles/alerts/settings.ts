import Type from 'typebox';
import { formats } from './intake/body.ts';

const MiB = 1024 * 1024;

/** Days for which a new log keeps alerts, if `alertsRetainDays` is not set. */
export const defaultRetainDays = 400;

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

const signing = formats.filter(({ signature }) => signature).map(({ name }) => name);

/** The alert log's settings with their defaults. */
export const alertSettings = {
  intakeSecrets: Type.Optional(
    Type.Object(Object.fromEntries(signing.map((name) => [name, Type.Optional(Type.String({ minLength: 1 }))])), {
      writeOnly: true,
      additionalProperties: false,
      description: 'Secrets by format whose senders sign their requests; unsigned ones are then refused.',
    }),
  ),
  alertsSync: Type.Boolean({
    default: true,
    description: 'Respond only once the alert is on disk; off is faster but can lose alerts on power loss.',
  }),
  alertsSegmentBytes: Type.Integer({
    minimum: 4096,
    default: 64 * MiB,
    description: 'Maximum size of a log file in bytes; the log continues in a new file.',
  }),
  alertsRetainSegments: retention('Number of closed log files to keep; 0 keeps all.'),
  alertsRetainBytes: retention('Bytes of closed log files to keep; 0 keeps all.'),
  alertsRetainDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `Days to keep an alert; 0 keeps all. By default ${defaultRetainDays}; a log that version 1.0 has begun keeps all. Whole files are deleted, up to a day later.`,
    }),
  ),
  alertsQueueCount: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'Number of alerts that may wait for the disk; further ones get 503.',
  }),
  alertsQueueBytes: Type.Integer({
    minimum: 4 * MiB,
    default: 32 * MiB,
    description: 'Bytes of alerts that may wait for the disk; further alerts get 503.',
  }),
  alertsMinFreeBytes: Type.Integer({
    minimum: 0,
    default: MiB,
    description: 'Free space in bytes that the file system must have; with less, alerts get 503.',
  }),
  spool: Type.Boolean({
    default: true,
    description:
      'With a database that instances share: keep alerts in `dataDir` while it cannot be used; off where disks do not last, so they get 503.',
  }),
};
