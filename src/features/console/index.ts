import Type from 'typebox';
import { pagePolicy } from '../../http/pages.ts';
import { defineFeature } from '../../kit/feature.ts';

/** Output folder of scripts/bundle.mjs. */
const folder = 'dist/console';

/** Feature that serves the web console. The console adapts to the mounted routes. */
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
