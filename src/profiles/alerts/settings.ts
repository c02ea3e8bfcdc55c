import Type from 'typebox';
import { formats } from './intake/formats.ts';
import { outboxSettings } from './outbox/config/settings.ts';

const MiB = 1024 * 1024;

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

const signing = formats.filter(({ signature }) => signature).map(({ name }) => name);

/** The alert log's settings with their defaults. */
export const alertSettings = {
  alertsAuth: Type.Enum(['none', 'bearer'], {
    default: 'none',
    description: 'Whether sending and listing alerts needs a token or a key.',
  }),
  intakeSecrets: Type.Optional(
    Type.Object(Object.fromEntries(signing.map((name) => [name, Type.Optional(Type.String({ minLength: 1 }))])), {
      secret: true,
      additionalProperties: false,
      description: 'Secrets by format whose senders sign their requests; unsigned ones are then refused.',
    }),
  ),
  alertsSync: Type.Boolean({
    default: true,
    description: 'Respond only when the alert is on disk; `false` is faster and not safe against power loss.',
  }),
  alertsSegmentBytes: Type.Integer({
    minimum: 4096,
    default: 64 * MiB,
    description: 'The log continues in a new file before it grows past this size.',
  }),
  alertsRetainSegments: retention('How many closed log files to keep; 0 keeps all.'),
  alertsRetainBytes: retention('How many bytes of closed log files to keep; 0 keeps all.'),
  alertsRetainDays: retention(
    'How many days to keep an alert; 0 keeps all. Whole files are deleted, up to a day later.',
  ),
  alertsQueueCount: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'How many alerts may wait for the disk; beyond that the response is 503.',
  }),
  alertsQueueBytes: Type.Integer({
    minimum: 4 * MiB,
    default: 32 * MiB,
    description: 'How many bytes of alerts may wait for the disk; beyond that the response is 503.',
  }),
  alertsMinFreeBytes: Type.Integer({
    minimum: 0,
    default: MiB,
    description: 'While the file system has less free space than this, the response to alerts is 503.',
  }),
  ...outboxSettings,
};
