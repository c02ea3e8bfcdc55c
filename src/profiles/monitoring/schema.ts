import Type, { type Static } from 'typebox';
import { defineShape } from '../route.ts';

export const ServerHealth = defineShape('ServerHealth', {
  status: Type.Literal('healthy'),
  uptime: Type.String({
    description: 'Time since the server started.',
    pattern: '^(\\d+\\.)?\\d{2}:\\d{2}:\\d{2}\\.\\d{7}$',
  }),
  version: Type.String(),
  hostname: Type.String(),
});

export const MachineHealth = defineShape('MachineHealth', {
  status: Type.Literal('healthy'),
  timestamp: Type.String({ description: 'Local time.', examples: ['2026-01-31T09:30:00'] }),
  computer: Type.String(),
  uptime: Type.String({ description: 'Time since the machine started.', examples: ['12.3 days'] }),
  cpuUsage: Type.String({ description: 'Busy share of all processors over the last second.', examples: ['7%'] }),
  memoryUsage: Type.String({ description: 'Share of memory no longer available to programs.', examples: ['41.7%'] }),
});

export const ServerInfo = defineShape('ServerInfo', {
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

export const ProcessRow = defineShape('Process', {
  name: Type.String(),
  pid: Type.Integer(),
  memoryMB: Type.Number({ description: 'Working set in MiB, one decimal.' }),
  cpu: Type.Union([Type.Number(), Type.Null()], { description: 'Processor seconds used so far; null if unknown.' }),
});
export type ProcessRow = Static<typeof ProcessRow>;

export const ProcessList = defineShape('ProcessList', {
  count: Type.Integer({ description: 'Processes in `data`.' }),
  data: Type.Array(ProcessRow),
});

export const DiskRow = defineShape('Disk', {
  drive: Type.String({ description: 'Mount path; on Windows the drive letter.' }),
  totalGB: Type.Number({ description: 'GiB, two decimals.' }),
  freeGB: Type.Number({ description: 'Space that ordinary users can still fill, in GiB, two decimals.' }),
  usagePct: Type.Number({ description: 'Used share of used and free, in percent, one decimal.' }),
});
export type DiskRow = Static<typeof DiskRow>;

export const DiskList = defineShape('DiskList', { data: Type.Array(DiskRow) });
