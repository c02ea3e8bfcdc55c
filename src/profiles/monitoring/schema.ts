import Type, { type Static } from 'typebox';
import { defineShape } from '../route.ts';

export const ServerHealth = defineShape('ServerHealth', {
  status: Type.Literal('healthy'),
  uptime: Type.String({
    description: 'Time since the server started.',
    pattern: '^(\\d+\\.)?\\d{2}:\\d{2}:\\d{2}\\.\\d{7}$',
    examples: ['00:00:00.6640000'],
  }),
  version: Type.String({ examples: ['1.0.0'] }),
  hostname: Type.String({ examples: ['web-1'] }),
});

export const MachineHealth = defineShape('MachineHealth', {
  status: Type.Literal('healthy'),
  timestamp: Type.String({ description: 'Local time.', examples: ['2026-01-31T09:30:00'] }),
  computer: Type.String({ examples: ['web-1'] }),
  uptime: Type.String({ description: 'Time since the machine started.', examples: ['12.3 days'] }),
  cpuUsage: Type.String({ description: 'Busy share of all processors over the last second.', examples: ['7%'] }),
  memoryUsage: Type.String({ description: 'Share of memory no longer available to programs.', examples: ['41.7%'] }),
});

export const ServerInfo = defineShape('ServerInfo', {
  computer: Type.String({ examples: ['web-1'] }),
  os: Type.String({
    description: '`Unknown` if the system does not report it.',
    examples: ['Debian GNU/Linux 12 (bookworm)'],
  }),
  psVersion: Type.String({ description: 'Version of PowerShell; `Unknown` if there is none.', examples: ['7.4.6'] }),
  frameworkVersion: Type.String({ description: '`Node.js` and its version.', examples: ['Node.js 20.20.2'] }),
  uptime: Type.Number({ description: 'Days since the machine started, one decimal.', examples: [12.3] }),
});

export const ProcessQuery = Type.Object({
  top: Type.Integer({ minimum: 0, default: 10, description: 'How many processes to list.' }),
  sort: Type.String({ default: 'Memory', description: 'Accepted, but rows are always ordered by working set.' }),
});

export const ProcessRow = defineShape('Process', {
  name: Type.String({ examples: ['node'] }),
  pid: Type.Integer({ examples: [4086] }),
  memoryMB: Type.Number({ description: 'Working set in MiB, one decimal.', examples: [104.9] }),
  cpu: Type.Union([Type.Number({ examples: [0.92] }), Type.Null()], {
    description: 'Processor seconds used so far; null if unknown.',
  }),
});
export type ProcessRow = Static<typeof ProcessRow>;

export const ProcessList = defineShape('ProcessList', {
  count: Type.Integer({ description: 'Processes in `data`.', examples: [1] }),
  data: Type.Array(ProcessRow),
});

export const DiskRow = defineShape('Disk', {
  drive: Type.String({ description: 'Mount path; on Windows the drive letter.', examples: ['/'] }),
  totalGB: Type.Number({ description: 'GiB, two decimals.', examples: [251.97] }),
  freeGB: Type.Number({
    description: 'Space that ordinary users can still fill, in GiB, two decimals.',
    examples: [78.93],
  }),
  usagePct: Type.Number({ description: 'Used share of used and free, in percent, one decimal.', examples: [68.7] }),
});
export type DiskRow = Static<typeof DiskRow>;

export const DiskList = defineShape('DiskList', { data: Type.Array(DiskRow) });

const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] });
const numberOrNull = (example: number, description = '') =>
  Type.Union([Type.Number({ examples: [example] }), Type.Null()], description === '' ? {} : { description });

/** An event of the topic `host`. */
export const HostUsage = Type.Object(
  {
    time: Time,
    cpu: numberOrNull(0.25, 'Busy share of all processors, 0 to 1.'),
    memoryUsed: numberOrNull(2_147_483_648),
    memoryTotal: numberOrNull(8_589_934_592),
    swapUsed: numberOrNull(0),
    load: numberOrNull(0.5),
    networkReceived: numberOrNull(1200),
    networkSent: numberOrNull(800),
  },
  {
    title: 'HostUsage',
    description: 'Sizes in bytes, traffic in bytes per second, null where the machine does not tell.',
  },
);

/** An event of the topics `processes` and `top`. */
export const ProcessUsage = Type.Object(
  {
    time: Time,
    count: Type.Integer({ description: 'Of all processes.', examples: [1] }),
    data: Type.Array(
      Type.Object({
        pid: Type.Integer({ examples: [4086] }),
        parentPid: numberOrNull(1),
        name: Type.String({ examples: ['node'] }),
        user: Type.Union([Type.String({ examples: ['root'] }), Type.Null()]),
        cpu: numberOrNull(0.02, 'Share of one processor since the event before.'),
        cpuSeconds: numberOrNull(0.92),
        memoryBytes: Type.Number({ examples: [109_990_000] }),
        threads: numberOrNull(11),
        startedAt: Type.Union([Time, Type.Null()]),
      }),
    ),
  },
  { title: 'ProcessUsage', description: 'The processes with the most memory.' },
);
