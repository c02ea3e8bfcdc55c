import { readPowerShellVersion } from '../../host/programs.ts';
import { createSharedReading } from '../../host/sampler.ts';
import { defineFeature } from '../feature.ts';
import { createMonitoringRoutes } from './routes.ts';
import { createMonitoringTopics } from './topics.ts';

/** Monitoring: the state of the machine the server runs on. */
export const monitoring = defineFeature({
  name: 'monitoring',
  profiles: [{ name: 'monitoring', alias: 'M', mounts: ['/'], summary: 'health, server info, processes and disks' }],
  settings: {},
  create: ({ clock, host, version, nodeVersion, powerShellPaths }) => ({
    topics: createMonitoringTopics({ clock, host }),
    profiles: {
      monitoring: createMonitoringRoutes({
        ...{ clock, host, version, nodeVersion },
        monotonicMs: () => performance.now(),
        // Shared, so concurrent requests read its files only once.
        readPowerShellVersion: createSharedReading(() => readPowerShellVersion(powerShellPaths), 0),
      }),
    },
  }),
});
