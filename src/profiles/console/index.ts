import { join } from 'node:path';
import Type from 'typebox';
import { defineFeature } from '../feature.ts';

/** The pages may load and connect to this server only, and cannot be framed. */
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** The web console: pages that use the mounted routes, whichever they are. */
export const webConsole = defineFeature({
  name: 'console',
  profiles: [],
  settings: {
    console: Type.Boolean({ default: true, description: 'Serve the web console at /console/.' }),
  },
  isOn: ({ console }) => console,
  create: ({ programFolder }) => ({
    profiles: {},
    pages: {
      prefix: '/console/',
      root: join(programFolder, 'dist', 'console'),
      policy,
      missing: 'The console has not been built: run npm run build',
    },
  }),
});
