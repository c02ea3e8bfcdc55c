import { randomInt } from 'node:crypto';
import type { Static } from 'typebox';
import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { pagingHeaders, sendList, setPaging, whenReady } from '../../http/json.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineShape } from '../../kit/shape.ts';
import type { EntryKind, EntryStore } from '../../storage/entries.ts';

/** Number of possible ids: 0 to 999. */
const itemIds = 1000;

export const Item = defineShape('Item', {
  id: Type.Integer({ minimum: 0, maximum: itemIds - 1, examples: [442] }),
  name: Type.String({ examples: ['label printer'] }),
  status: Type.Enum(['active', 'archived', 'created'], { type: 'string', title: 'ItemStatus' }),
});
export type Item = Static<typeof Item>;

const NewItem = defineShape('NewItem', { name: Type.String({ minLength: 1, examples: ['label printer'] }) });

const ItemCreated = defineShape('ItemCreated', {
  ...Item.properties,
  message: Type.String({ examples: ['Item created'] }),
});

const ItemQuery = Type.Object({
  page: Type.Integer({ minimum: 1, default: 1, description: 'Number of the page.' }),
  size: Type.Integer({ minimum: 0, default: 20, description: 'Number of items on a page.' }),
});

const ItemPage = defineShape('ItemPage', {
  data: Type.Array(Item),
  page: Type.Integer({ examples: [1] }),
  size: Type.Integer({ examples: [20] }),
  total: Type.Integer({ description: 'Number of items on all pages.', examples: [1] }),
});

/** Item in a seed file. An item without an id gets a random id. */
export const ItemSeed = Type.Object(
  {
    id: Type.Optional(Item.properties.id),
    name: Type.String({ minLength: 1 }),
    status: Type.Optional(Item.properties.status),
  },
  { additionalProperties: false },
);
export type ItemSeed = Static<typeof ItemSeed>;

/** Kind of item records. A new item gets a random unused id or, once all ids are in use, any id. */
export const itemKind: EntryKind<ItemSeed, Item> = {
  name: 'items',
  table: 'item',
  complete: ({ id, name, status = 'created' }, _place, taken) => ({ id: id ?? pickId(taken), name, status }),
  numbers: { table: 'item_number', of: ({ id }) => id },
};

export type ItemStore = EntryStore<ItemSeed, Item>;

const pickId = (taken: ReadonlySet<number>): number => {
  const unused = Array.from({ length: itemIds }, (_, id) => id).filter((id) => !taken.has(id));
  return unused[randomInt(Math.max(unused.length, 1))] ?? randomInt(itemIds);
};

/** Creates the routes of the profile `items`. */
export const createItemRoutes = (store: ItemStore): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/items',
    ...needs('items:read'),
    isSpecified: true,
    summary: 'List items by page, in order of creation',
    headers: { response: pagingHeaders },
    schema: { operationId: 'listItems', querystring: ItemQuery, response: { 200: ItemPage } },
    handler: ({ query }, reply) => {
      const { page, size } = query;
      return whenReady(reply, store.list(size * (page - 1), size), ({ total, pieces }) => {
        setPaging(reply, total, query, toPages(page, size, total));
        const closing = `],"page":${page},"size":${size},"total":${total}}`;
        return sendList(reply, { opening: '{"data":[', pieces, closing });
      });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/items',
    ...needs('items:write'),
    isSpecified: true,
    summary: 'Create an item',
    textsAsSent: true,
    schema: { operationId: 'createItem', body: NewItem, response: { 201: ItemCreated } },
    handler: async ({ body: { name } }, reply) =>
      reply.code(201).send({ ...(await store.add({ name })), message: 'Item created' }),
  }),
];

/** Returns the queries for the first, previous, next and last page. */
const toPages = (page: number, size: number, total: number) => {
  if (size === 0) return {};
  const last = Math.max(1, Math.ceil(total / size));
  return {
    first: { page: 1 },
    ...(page > 1 && { prev: { page: Math.min(page - 1, last) } }),
    ...(page < last && { next: { page: page + 1 } }),
    last: { page: last },
  };
};
