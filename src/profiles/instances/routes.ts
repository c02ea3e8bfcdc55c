import type { Database } from '../../storage/postgres/database.ts';
import { defineRoute, type Route } from '../route.ts';
import { InstanceList } from './schema.ts';

export const createInstancesRoute = (database: Database): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/instances',
    access: 'admin',
    summary: 'List the instances that share the database',
    schema: { operationId: 'listInstances', response: { 200: InstanceList } },
    handler: async () => {
      const rows = await database.query({ text: list, values: [database.instance] });
      const data = rows.map(({ seenAt, ...instance }) => ({ ...instance, seenAt: seenAt.toISOString() }));
      return { count: data.length, data };
    },
  });

/** The row of an instance that has ended stays for a day. */
const list = `SELECT name, version, instance, seen_at AS "seenAt", seen_at > now() - interval '1 minute' AS "isLive",
    instance = $1 AS "isThis"
  FROM signalbox.writer WHERE seen_at >= now() - interval '1 day' ORDER BY 5 DESC, name, seen_at DESC`;
