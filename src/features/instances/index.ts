import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { defineFeature } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineShape } from '../../kit/shape.ts';
import type { Database } from '../../storage/postgres/database.ts';

const Instance = defineShape('Instance', {
  name: Type.String({ description: 'Name of the instance, set by `instanceName`.', examples: ['one'] }),
  version: Type.String({ description: 'Version of signalbox.', examples: ['1.0.0'] }),
  instance: Type.String({
    format: 'uuid',
    description: 'Id of the running process; changes with each restart.',
    examples: ['7b0c2d4e-1f3a-4c5b-8d6e-9f0a1b2c3d4e'],
  }),
  seenAt: Type.String({
    format: 'date-time',
    description:
      'Time of the last heartbeat of the instance, by the clock of the database; instances write a heartbeat every 5 seconds.',
    examples: ['2026-01-31T08:30:00.000Z'],
  }),
  isLive: Type.Boolean({ description: 'True if the instance was seen within the last minute.', examples: [true] }),
  isThis: Type.Boolean({ description: 'True for the instance that sent this response.', examples: [true] }),
});

const InstanceList = defineShape('InstanceList', {
  count: Type.Integer({ description: 'Number of instances in `data`.', examples: [1] }),
  data: Type.Array(Instance),
});

/** Feature that shows the instances sharing a database. */
export const instances = defineFeature({
  name: 'instances',
  profiles: [{ name: 'instances', mounts: ['/'], summary: 'instances that share a database', fixedAccess: 'closed' }],
  settings: {},
  needsDatabase: true,
  create: ({ storage: { database } }) => ({
    profiles: { instances: database ? [createInstancesRoute(database)] : [] },
  }),
});

const createInstancesRoute = (database: Database): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/instances',
    ...needs('settings:read'),
    summary: 'List the instances that share the database',
    schema: { operationId: 'listInstances', response: { 200: InstanceList } },
    handler: async () => {
      const rows = await database.query({ text: list, values: [database.instance] });
      const data = rows.map(({ seenAt, ...instance }) => ({ ...instance, seenAt: seenAt.toISOString() }));
      return { count: data.length, data };
    },
  });

/** Query for the instances. A stopped instance stays listed for a day. */
const list = `SELECT name, version, instance, seen_at AS "seenAt", seen_at > now() - interval '1 minute' AS "isLive",
    instance = $1 AS "isThis"
  FROM signalbox.writer WHERE seen_at >= now() - interval '1 day' AND name <> '' ORDER BY 5 DESC, name, seen_at DESC`;
