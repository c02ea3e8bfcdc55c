import type { Static } from 'typebox';
import type { ItemPage, Item as Shape } from '../../src/profiles/items/schema.ts';
import { defineCall } from '../api.ts';

export type Item = Static<typeof Shape>;

export const listItems = defineCall<Pick<Static<typeof ItemPage>, 'data' | 'total'>>({
  ...{ profile: 'items', method: 'GET', path: '/api/items' },
  shape: { data: [{ id: 'number', name: 'string', status: 'string' }], total: 'number' },
});
