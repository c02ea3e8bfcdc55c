import assert from 'node:assert/strict';
import type { TestApp } from '../../support/app.ts';
import type { JsonResponse } from '../../support/client.ts';

interface Reading {
  path: string;
  token?: string;
}

/** Asserts that a response has the status and is labelled as JSON. */
export const assertJson = (answer: JsonResponse<unknown>, status: number): void => {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
};

/** Asserts that a response is an error with `error` and no other member. */
export const assertError = (answer: JsonResponse<unknown>, status: number, error: string | RegExp): void => {
  assertJson(answer, status);
  const body = answer.json as { error: string };
  assert.deepEqual(Object.keys(body), ['error'], answer.text);
  if (typeof error === 'string') assert.equal(body.error, error);
  else assert.match(body.error, error);
};

/** Asserts that a response rejects a task with exactly these messages. */
export const assertInvalidTask = (answer: JsonResponse<unknown>, detail: readonly string[]): void => {
  assertJson(answer, 400);
  assert.equal(answer.text, JSON.stringify({ error: 'Validation failed', detail }));
};

/** Asserts that a response is a 401 that names the scheme. */
export const assertUnauthorized = (answer: JsonResponse<unknown>, error: string | RegExp): void => {
  assertError(answer, 401, error);
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
};

/** Asserts that the response at `path` is byte-identical before and after `run`. */
export const assertUnchanged = async (
  app: TestApp,
  { path, token }: Reading,
  run: () => Promise<void>,
): Promise<void> => {
  const read = async () => (await app.request('GET', path, token === undefined ? {} : { token })).text;
  const before = await read();
  await run();
  assert.equal(await read(), before);
};
