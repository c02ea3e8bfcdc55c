import { sendJsonList } from '../../http/response/json-list.ts';
import { ErrorBody } from '../../http/response/schema.ts';
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
    schema: { querystring: ItemQuery, response: { 200: ItemPage, 400: ErrorBody } },
    handler: ({ query: { page, size } }, reply) => {
      const closing = `],"page":${page},"size":${size},"total":${store.count()}}`;
      sendJsonList(reply, '{"data":[', store.listPage(page, size), closing);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/items',
    access: 'token',
    summary: 'Create an item',
    schema: { body: NewItem, response: { 201: ItemCreated, 400: ErrorBody } },
    handler: async ({ body: { name } }, reply) =>
      reply.code(201).send({ ...store.add({ name }), message: 'Item created' }),
  }),
];
