import Type, { type Static } from 'typebox';

export const ServerHealth = Type.Object({
  status: Type.Literal('healthy'),
  uptime: Type.String({
    description: 'Time since the server started, `[d.]hh:mm:ss.fffffff`.',
    pattern: '^(\\d+\\.)?\\d{2}:\\d{2}:\\d{2}\\.\\d{7}$',
  }),
  version: Type.String(),
  hostname: Type.String(),
});

export const MachineHealth = Type.Object({
  status: Type.Literal('healthy'),
  timestamp: Type.String({ description: 'Local time, `yyyy-MM-ddTHH:mm:ss`.' }),
  computer: Type.String(),
  uptime: Type.String({ description: 'Time since the machine started, e.g. `12.3 days`.' }),
  cpuUsage: Type.String({ description: 'Busy share of all processors over the last second, e.g. `7%`.' }),
  memoryUsage: Type.String({ description: 'Share of memory no longer available to programs, e.g. `41.7%`.' }),
});

export const ServerInfo = Type.Object({
  computer: Type.String(),
  os: Type.String({ description: '`Unknown` if the system does not report it.' }),
  psVersion: Type.String({ description: 'Version of PowerShell; `Unknown` if there is none.' }),
  frameworkVersion: Type.String({ description: '`Node.js` and its version.' }),
  uptime: Type.Number({ description: 'Days since the machine started, one decimal.' }),
});

export const ProcessQuery = Type.Object({
  top: Type.Integer({ minimum: 0, default: 10, description: 'How many processes to list.' }),
  sort: Type.String({ default: 'Memory', description: 'Accepted, but rows are always ordered by working set.' }),
});

export const ProcessRow = Type.Object({
  name: Type.String(),
  pid: Type.Integer(),
  memoryMB: Type.Number({ description: 'Working set in MiB, one decimal.' }),
  cpu: Type.Union([Type.Number(), Type.Null()], {
    description: 'Processor seconds used so far, two decimals; null if the system does not report them.',
  }),
});
export type ProcessRow = Static<typeof ProcessRow>;

export const ProcessList = Type.Object({
  count: Type.Integer({ description: 'Processes in `data`.' }),
  data: Type.Array(ProcessRow),
});

export const DiskRow = Type.Object({
  drive: Type.String({ description: 'Mount path; on Windows the drive letter.' }),
  totalGB: Type.Number({ description: 'GiB, two decimals.' }),
  freeGB: Type.Number({ description: 'Space that ordinary users can still fill, in GiB, two decimals.' }),
  usagePct: Type.Number({ description: 'Used share of used and free, in percent, one decimal.' }),
});
export type DiskRow = Static<typeof DiskRow>;

export const DiskList = Type.Object({ data: Type.Array(DiskRow) });
