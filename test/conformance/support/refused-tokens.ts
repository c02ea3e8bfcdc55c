import type { TestContext } from 'node:test';
import { startApp, type TestApp } from '../../support/app.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { assertJson, assertUnauthorized } from './assertions.ts';

/** Pattern of error messages that can have several causes, which follow the prefix. */
export const failed = /^Token validation failed: ./;

/** Asserts that each token is rejected with the message, and that a valid token is accepted. */
export const assertRefused = async (
  t: TestContext,
  tokens: readonly string[],
  message: string | RegExp,
): Promise<void> => {
  const app = await startApp(t, { settings: { profiles: ['protected-tasks', 'items'] } });
  await assertAccepted(app, signToken(createClaims()));
  for (const token of tokens) {
    assertUnauthorized(await app.request('GET', '/api/tasks', { token }), message);
    assertUnauthorized(await app.request('GET', '/api/items', { token }), message);
    assertUnauthorized(await app.request('POST', '/api/items', { token, body: { name: 'a' } }), message);
  }
  await assertAccepted(app, signToken(createClaims()));
};

const assertAccepted = async (app: TestApp, token: string): Promise<void> => {
  assertJson(await app.request('GET', '/api/tasks', { token }), 200);
  assertJson(await app.request('GET', '/api/items', { token }), 200);
};
