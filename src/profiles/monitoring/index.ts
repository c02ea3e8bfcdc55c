import { readPowerShellVersion } from '../../host/power-shell.ts';
import { defineFeature } from '../feature.ts';
import { createMonitoringRoutes } from './routes.ts';

/** Monitoring: the state of the machine signalbox runs on. */
export const monitoring = defineFeature({
  name: 'monitoring',
  profiles: [
    { name: 'monitoring', alias: 'M', mounts: ['/'], summary: 'health, server info, processes and disks' },
  ],
  settings: {},
  create: ({ clock, host, version, nodeVersion, powerShellPaths }) => ({
    profiles: {
      monitoring: createMonitoringRoutes({
        ...{ clock, host, version, nodeVersion },
        readPowerShellVersion: () => readPowerShellVersion(powerShellPaths),
      }),
    },
  }),
});
