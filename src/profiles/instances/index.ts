import { defineFeature } from '../feature.ts';
import { createInstancesRoute } from './routes.ts';

/** The instances that share a database. */
export const instances = defineFeature({
  name: 'instances',
  profiles: [{ name: 'instances', mounts: ['/'], summary: 'instances that share a database', fixedAccess: 'closed' }],
  settings: {},
  needsDatabase: true,
  create: ({ database }) => ({ profiles: { instances: database ? [createInstancesRoute(database)] : [] } }),
});
