import type { Static } from 'typebox';
import type { InstanceList, Instance as Row } from '../../src/profiles/instances/schema.ts';
import { defineCall } from '../api.ts';

export type Instance = Row;

export const listInstances = defineCall<Pick<Static<typeof InstanceList>, 'data'>>({
  ...{ profile: 'instances', method: 'GET', path: '/api/instances' },
  shape: {
    data: [
      {
        ...{ name: 'string', version: 'string', instance: 'string', seenAt: 'string' },
        ...{ isLive: 'boolean', isThis: 'boolean' },
      },
    ],
  },
});
