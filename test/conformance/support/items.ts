import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startApp, type TestApp } from '../../support/app.ts';
import { createClaims, signToken } from '../../support/tokens.ts';

interface Item {
  id: number;
  name: string;
  status: string;
}

interface ItemPage {
  data: Item[];
  page: number;
  size: number;
  total: number;
}

/** Token that grants access to items. */
export const token = signToken(createClaims());

/** Starts an app that serves only the profile `items`, at `/`. */
export const startItems = (t: TestContext, seed: Partial<Item>[] = []): Promise<TestApp> =>
  startApp(t, { settings: { profiles: ['items'] }, seed: { items: seed } });

/** Creates `length` items for a seed, named `item 1`, `item 2` and so on. */
export const createSeed = (length: number): { name: string }[] =>
  Array.from({ length }, (_, index) => ({ name: `item ${index + 1}` }));

export const addItem = async (app: TestApp, body: object): Promise<Item> => {
  const { status, text, json } = await app.request<Item>('POST', '/api/items', { body, token });
  assert.equal(status, 201, text);
  return json;
};

/** Returns a page of items. `query` includes the question mark. */
export const listItems = async (app: TestApp, query = ''): Promise<ItemPage> => {
  const { status, text, json } = await app.request<ItemPage>('GET', `/api/items${query}`, { token });
  assert.equal(status, 200, text);
  return json;
};
