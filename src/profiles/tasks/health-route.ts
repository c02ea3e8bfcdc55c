import type { Parts } from '../feature.ts';
import { defineRoute, type Route } from '../route.ts';
import { TaskHealth } from './schema.ts';

/** The tasks' own health document; where the monitoring profile shares the mount, its document is the one. */
export const createHealthRoute = ({
  clock,
  host,
  version,
  nodeVersion,
}: Pick<Parts, 'clock' | 'host' | 'version' | 'nodeVersion'>): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/health',
    access: 'open',
    summary: 'Say that the service works, and on what',
    yieldsTo: 'monitoring',
    schema: { response: { 200: TaskHealth } },
    handler: async () => ({
      status: 'healthy' as const,
      timestamp: clock().toISOString(),
      version,
      machine: host.hostname(),
      pwsh: nodeVersion,
    }),
  });
