import { pagingHeaders, sendList, setPaging, whenReady } from '../../http/json.ts';
import { defineRoute, type Route } from '../route.ts';
import { ItemCreated, ItemPage, ItemQuery, type ItemStore, NewItem } from './schema.ts';

/** Profile `items`. */
export const createItemRoutes = (store: ItemStore): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/items',
    access: 'token',
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
    access: 'token',
    summary: 'Create an item',
    schema: { operationId: 'createItem', body: NewItem, response: { 201: ItemCreated } },
    handler: async ({ body: { name } }, reply) =>
      reply.code(201).send({ ...(await store.add({ name })), message: 'Item created' }),
  }),
];

/** The other pages, as far as there are any. */
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
