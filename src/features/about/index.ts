import { defineFeature } from '../../kit/feature.ts';
import { readLicences } from './licences.ts';
import { createAboutRoutes } from './routes.ts';

/** Feature that shows the server's version, data folder and licences. */
export const about = defineFeature({
  name: 'about',
  profiles: [
    { name: 'about', mounts: ['/'], summary: 'version, data and licences of the server', fixedAccess: 'closed' },
  ],
  settings: {},
  create: (parts) => {
    const startedAt = performance.now();
    return {
      profiles: {
        about: createAboutRoutes({
          ...parts,
          readUptime: () => (performance.now() - startedAt) / 1000,
          readLicences: () => readLicences(parts.readProgramFile),
        }),
      },
    };
  },
});
