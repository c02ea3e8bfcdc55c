import { sendList, whenReady } from '../../http/response/json.ts';
import { pagingHeaders, setPaging } from '../../http/response/paging.ts';
import { defineRoute, type Route } from '../route.ts';
import { ItemCreated, ItemPage, ItemQuery, NewItem } from './schema.ts';
import type { ItemStore } from './store.ts';

/** Profile `items`. */
export const createItemRoutes = (store: ItemStore): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/items',
    access: 'token',
    summary: 'List items by page, in order of creation',
    headers: { response: pagingHeaders },
    schema: { operationId: 'listItems', querystring: ItemQuery, response: { 200: ItemPage } },
    handler: ({ query: { page, size } }, reply) =>
      whenReady(reply, store.listPage(page, size), ({ total, pieces }) => {
        setPaging(reply, total, toPages(page, size, total));
        const closing = `],"page":${page},"size":${size},"total":${total}}`;
        return sendList(reply, { opening: '{"data":[', pieces, closing });
      }),
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

/** The queries of the other pages, as far as there are any. */
const toPages = (page: number, size: number, total: number) => {
  const last = Math.max(1, Math.ceil(total / Math.max(1, size)));
  const toPage = (other: number) => ({ page: other, size });
  return {
    first: size > 0 ? toPage(1) : undefined,
    prev: size > 0 && page > 1 ? toPage(Math.min(page - 1, last)) : undefined,
    next: size > 0 && page < last ? toPage(page + 1) : undefined,
    last: size > 0 ? toPage(last) : undefined,
  };
};
