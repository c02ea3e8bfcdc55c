import Type from 'typebox';

const MiB = 1024 * 1024;

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

/** The alert log's settings with their defaults. */
export const alertSettings = {
  alertsAuth: Type.Enum(['none', 'bearer'], {
    default: 'none',
    description: 'Whether sending and listing alerts needs a bearer token.',
  }),
  alertsSync: Type.Boolean({
    default: true,
    description:
      'Answer only when the disk has the alert; `false` is faster and not safe against power loss.',
  }),
  alertsSegmentBytes: Type.Integer({
    minimum: 4096,
    default: 64 * MiB,
    description: 'The log goes on in a new file before it grows past this size.',
  }),
  alertsRetainSegments: retention('How many closed log files to keep; 0 keeps all.'),
  alertsRetainBytes: retention('How many bytes of closed log files to keep; 0 keeps all.'),
  alertsRetainDays: retention('For how many days to keep a closed log file; 0 keeps all.'),
  alertsQueueCount: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'How many alerts may wait for the disk; more are answered 503.',
  }),
  alertsQueueBytes: Type.Integer({
    minimum: 4 * MiB,
    default: 32 * MiB,
    description: 'How many bytes of alerts may wait for the disk; more are answered 503.',
  }),
  alertsMinFreeBytes: Type.Integer({
    minimum: 0,
    default: MiB,
    description: 'While the file system has less free than this, alerts are answered 503.',
  }),
};
