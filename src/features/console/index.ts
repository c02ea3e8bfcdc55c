import Type from 'typebox';
import { pagePolicy } from '../../http/pages.ts';
import { defineFeature } from '../../kit/feature.ts';

/** Where scripts/bundle.mjs builds it. */
const folder = 'dist/console';

/** The web console: pages that use the mounted routes, whichever they are. */
export const webConsole = defineFeature({
  name: 'console',
  profiles: [],
  settings: {
    console: Type.Boolean({ default: true, description: 'Serve the web console at /console/.' }),
  },
  isOn: ({ console }) => console,
  create: ({ readProgramFile }) => ({
    profiles: {},
    pages: {
      prefix: '/console/',
      folder,
      policy: pagePolicy,
      read: readProgramFile,
      missing:
        readProgramFile(`${folder}/index.html`) === undefined
          ? 'The console has not been built: run npm run build'
          : undefined,
    },
  }),
});
