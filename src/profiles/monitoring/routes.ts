import { toLocalTimestamp } from '../../http/timestamp.ts';
import type { Parts } from '../feature.ts';
import { defineRoute, type Route } from '../route.ts';
import { listProcessRows, toDiskRow } from './rows.ts';
import { DiskList, MachineHealth, ProcessList, ProcessQuery, ServerHealth, ServerInfo } from './schema.ts';
import { toDays, toShare, toTimeSpan } from './units.ts';

interface MonitoringParts extends Pick<Parts, 'clock' | 'host' | 'version' | 'nodeVersion'> {
  /** Monotonic time in milliseconds. */
  monotonicMs: () => number;
  readPowerShellVersion: () => Promise<string | null>;
}

const unknown = 'Unknown';

/** Profile `monitoring`; the server's uptime counts from this call. */
export const createMonitoringRoutes = (parts: MonitoringParts): Route[] => [
  ...listServerHealth(parts),
  defineRoute({
    method: 'GET',
    path: '/api/health',
    access: 'open',
    summary: "Report the machine's processor and memory usage",
    schema: { operationId: 'getHealth', response: { 200: MachineHealth } },
    handler: () => readMachineHealth(parts),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/info',
    access: 'open',
    summary: 'Report the host name, operating system and runtime versions',
    schema: { operationId: 'getInfo', response: { 200: ServerInfo } },
    handler: () => readServerInfo(parts),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/processes',
    access: 'open',
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
    access: 'open',
    summary: 'List the fixed local disks and their usage',
    schema: { operationId: 'listDisks', response: { 200: DiskList } },
    handler: async () => ({ data: (await parts.host.fixedDisks()).map(toDiskRow) }),
  }),
];

/** Kubernetes calls the same check livez. */
const listServerHealth = (parts: MonitoringParts): Route[] => {
  const handler = createServerHealth(parts);
  return Object.entries({ '/health': 'getServerHealth', '/livez': 'getLivez' }).map(([path, operationId]) =>
    defineRoute({
      method: 'GET',
      path,
      access: 'open',
      staysOpen: true,
      summary: 'Report that the server is running, and its uptime',
      schema: { operationId, response: { 200: ServerHealth } },
      handler,
    }),
  );
};

const createServerHealth = ({ monotonicMs, host, version }: MonitoringParts) => {
  const startedAt = monotonicMs();
  return async () => ({
    status: 'healthy' as const,
    uptime: toTimeSpan(monotonicMs() - startedAt),
    version,
    hostname: host.hostname(),
  });
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
