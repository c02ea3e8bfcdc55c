import type { Static } from 'typebox';
import type { MachineHealth, ProcessList, ServerHealth, ServerInfo } from '../../src/profiles/monitoring/schema.ts';
import { defineCall } from '../api.ts';

const profile = 'monitoring';
const method = 'GET';

/** Readings as the API words them: `cpuUsage` is `7%`, `uptime` is `12.3 days`. */
export const getMachine = defineCall<Static<typeof MachineHealth>>({
  ...{ profile, method, path: '/api/health' },
  shape: { computer: 'string', uptime: 'string', cpuUsage: 'string', memoryUsage: 'string' },
});

export const getServer = defineCall<Static<typeof ServerHealth>>({
  ...{ profile, method, path: '/health' },
  shape: { uptime: 'string', version: 'string', hostname: 'string' },
});

export const getInfo = defineCall<Static<typeof ServerInfo>>({
  ...{ profile, method, path: '/api/info' },
  shape: { computer: 'string', os: 'string', frameworkVersion: 'string', uptime: 'number' },
});

export const listProcesses = defineCall<Static<typeof ProcessList>>({
  ...{ profile, method, path: '/api/processes' },
  shape: { data: [{ name: 'string', pid: 'number', memoryMB: 'number', cpu: 'number?' }] },
});
