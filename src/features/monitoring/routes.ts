import type { Static } from 'typebox';
import Type from 'typebox';
import { openFor } from '../../auth/access.ts';
import { cpuSecondsOf } from '../../host/process-usage.ts';
import { computeOnce } from '../../host/reading.ts';
import type { FileSystemReading, ProcessReading } from '../../host/readings.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineList, defineShape, nullable } from '../../kit/shape.ts';
import { toLocalTimestamp } from '../../lib/local-time.ts';
import { MiB } from '../../lib/units.ts';

const ServerHealth = defineShape('ServerHealth', {
  status: Type.Literal('healthy'),
  uptime: Type.String({
    description: 'Time since the server started.',
    pattern: '^(\\d+\\.)?\\d{2}:\\d{2}:\\d{2}\\.\\d{7}$',
    examples: ['00:00:00.6640000'],
  }),
  version: Type.String({ examples: ['1.0.0'] }),
  hostname: Type.String({ examples: ['web-1'] }),
});

const MachineHealth = defineShape('MachineHealth', {
  status: Type.Literal('healthy'),
  timestamp: Type.String({ description: 'Local time of the server.', examples: ['2026-01-31T09:30:00'] }),
  computer: Type.String({ examples: ['web-1'] }),
  uptime: Type.String({ description: 'Time since the machine started.', examples: ['12.3 days'] }),
  cpuUsage: Type.String({ description: 'Usage of all CPUs in the last second.', examples: ['7%'] }),
  memoryUsage: Type.String({
    description: 'Share of the memory that is not available to programs.',
    examples: ['41.7%'],
  }),
});

const ServerInfo = defineShape('ServerInfo', {
  computer: Type.String({ examples: ['web-1'] }),
  os: Type.String({
    description: 'Name of the operating system; `Unknown` if not reported.',
    examples: ['Debian GNU/Linux 12 (bookworm)'],
  }),
  psVersion: Type.String({ description: 'Version of PowerShell; `Unknown` if there is none.', examples: ['7.4.6'] }),
  frameworkVersion: Type.String({ description: '`Node.js` and its version.', examples: ['Node.js 20.20.2'] }),
  uptime: Type.Number({ description: 'Days since the machine started, one decimal.', examples: [12.3] }),
});

const ProcessQuery = Type.Object({
  top: Type.Integer({ minimum: 0, default: 10, description: 'Maximum number of processes to return.' }),
  sort: Type.String({
    default: 'Memory',
    description: 'Accepted, but has no effect: processes are always ordered by working set.',
  }),
});

const ProcessRow = defineShape('Process', {
  name: Type.String({ examples: ['node'] }),
  pid: Type.Integer({ examples: [4086] }),
  memoryMB: Type.Number({ description: 'Working set in MiB, one decimal.', examples: [104.9] }),
  cpu: nullable(Type.Number({ examples: [0.92] }), 'CPU seconds used so far; null if unknown.'),
});
type ProcessRow = Static<typeof ProcessRow>;

const ProcessList = defineList('ProcessList', 'Processes', ProcessRow);

const DiskRow = defineShape('Disk', {
  drive: Type.String({ description: 'Mount path; on Windows the drive letter.', examples: ['/'] }),
  totalGB: Type.Number({ description: 'Size in GiB, two decimals.', examples: [251.97] }),
  freeGB: Type.Number({
    description: 'Space available to ordinary users, in GiB, two decimals.',
    examples: [78.93],
  }),
  usagePct: Type.Number({
    description: 'Used space as a percentage of used and free space, one decimal.',
    examples: [68.7],
  }),
});
type DiskRow = Static<typeof DiskRow>;

const DiskList = defineShape('DiskList', { data: Type.Array(DiskRow) });

interface MonitoringParts extends Pick<Parts, 'clock' | 'host' | 'version'> {
  /** Node.js version, e.g. `20.20.2`. */
  nodeVersion: string;
  /** Monotonic time in milliseconds. */
  monotonicMs: () => number;
  readPowerShellVersion: () => Promise<string | null>;
}

const unknown = 'Unknown';

/** Creates the routes of the profile `monitoring`. The server's uptime counts from this call. */
export const createMonitoringRoutes = (parts: MonitoringParts): Route[] => [
  ...listServerHealth(parts),
  defineRoute({
    method: 'GET',
    path: '/api/health',
    isVital: true,
    ...openFor('machine:read'),
    isSpecified: true,
    summary: "Get the machine's CPU and memory usage",
    schema: { operationId: 'getHealth', response: { 200: MachineHealth } },
    handler: () => readMachineHealth(parts),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/info',
    ...openFor('machine:read'),
    isSpecified: true,
    summary: 'Get the host name, operating system and runtime versions',
    schema: { operationId: 'getInfo', response: { 200: ServerInfo } },
    handler: () => readServerInfo(parts),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/processes',
    ...openFor('machine:read'),
    isSpecified: true,
    summary: 'List the processes that use the most memory',
    schema: { operationId: 'listProcesses', querystring: ProcessQuery, response: { 200: ProcessList } },
    handler: async ({ query }) => {
      const data = listProcessRows(await parts.host.processes(), query.top);
      return { count: data.length, data };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/disks',
    ...openFor('machine:read'),
    isSpecified: true,
    summary: 'List the fixed local disks and their usage',
    schema: { operationId: 'listDisks', response: { 200: DiskList } },
    handler: async () => ({ data: (await parts.host.fixedDisks()).map(toDiskRow) }),
  }),
];

/** Creates the health check at its two paths. Kubernetes expects it at `/livez`. */
const listServerHealth = ({ monotonicMs, host, version }: MonitoringParts): Route[] => {
  const startedAt = monotonicMs();
  const handler = async () => ({
    status: 'healthy' as const,
    uptime: toTimeSpan(monotonicMs() - startedAt),
    version,
    hostname: host.hostname(),
  });
  return Object.entries({ '/health': 'getServerHealth', '/livez': 'getLivez' }).map(([path, operationId]) =>
    defineRoute({
      method: 'GET',
      path,
      isVital: true,
      ...openFor('machine:read'),
      isSpecified: true,
      staysOpen: true,
      summary: 'Get the health and uptime of the server',
      schema: { operationId, response: { 200: ServerHealth } },
      handler,
    }),
  );
};

const readMachineHealth = async ({ clock, host }: MonitoringParts) => {
  const [busy, memory] = await Promise.all([host.cpuBusy(), host.memory()]);
  return {
    status: 'healthy' as const,
    timestamp: toLocalTimestamp(clock()),
    computer: host.hostname(),
    uptime: `${toDays(host.uptimeSeconds()).toFixed(1)} days`,
    cpuUsage: toShare(busy, 0),
    memoryUsage: toShare(1 - memory.available / memory.total, 1),
  };
};

const readServerInfo = async ({ host, nodeVersion, readPowerShellVersion }: MonitoringParts) => {
  const [{ osName }, psVersion] = await Promise.all([host.system(), readPowerShellVersion()]);
  return {
    computer: host.hostname(),
    os: osName ?? unknown,
    psVersion: psVersion ?? unknown,
    frameworkVersion: `Node.js ${nodeVersion}`,
    uptime: toDays(host.uptimeSeconds()),
  };
};

const bytesPerGiB = 2 ** 30;

/** Sorts a reading and builds its rows, only once for all requests and events that share the reading. */
export const rankProcesses = computeOnce((reading: readonly ProcessReading[]) => ({
  processes: reading.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes || a.pid - b.pid),
  /** Rows of the first processes. Built only when requests need them. */
  rows: [] as ProcessRow[],
}));

/** Returns the first rows, sorted by largest working set, then by process id. */
export const listProcessRows = (reading: readonly ProcessReading[], top: number): ProcessRow[] => {
  const { processes, rows } = rankProcesses(reading);
  for (const process of processes.slice(rows.length, top)) rows.push(toProcessRow(process));
  return rows.slice(0, top);
};

export const toProcessRow = (process: ProcessReading): ProcessRow => ({
  name: process.name,
  pid: process.pid,
  memoryMB: toRounded(process.workingSetBytes / MiB, 1),
  cpu: cpuSecondsOf(process),
});

/** Returns the usage of a disk as `df` does: space reserved for root counts as neither used nor free. */
export const toDiskRow = ({ mountPath, totalBytes, usedBytes, availableBytes }: FileSystemReading): DiskRow => ({
  drive: mountPath,
  totalGB: toRounded(totalBytes / bytesPerGiB, 2),
  freeGB: toRounded(availableBytes / bytesPerGiB, 2),
  usagePct: usedBytes === 0 ? 0 : toRounded((100 * usedBytes) / (usedBytes + availableBytes), 1),
});

const secondsPerDay = 86_400;

export const toRounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

/** Converts seconds to days with one decimal. */
export const toDays = (seconds: number): number => toRounded(seconds / secondsPerDay, 1);

/** Formats a share (0 to 1) as a percentage, e.g. `41.7%`. */
export const toShare = (share: number, decimals: number): string => `${(share * 100).toFixed(decimals)}%`;

/** Formats milliseconds in .NET's constant time-span format `[d.]hh:mm:ss.fffffff`. Negative values count as 0. */
export const toTimeSpan = (milliseconds: number): string => {
  const passed = Math.max(0, Math.trunc(milliseconds));
  const seconds = Math.trunc(passed / 1000);
  const days = Math.trunc(seconds / secondsPerDay);
  const [hours, minutes] = [Math.trunc(seconds / 3600) % 24, Math.trunc(seconds / 60) % 60];
  const clock = [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':');
  // The fraction has seven digits. Milliseconds fill the first three.
  const fraction = String(passed % 1000)
    .padStart(3, '0')
    .padEnd(7, '0');
  return `${days > 0 ? `${days}.` : ''}${clock}.${fraction}`;
};
