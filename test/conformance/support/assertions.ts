import assert from 'node:assert/strict';
import type { TestApp } from '../../support/app.ts';
import type { JsonResponse } from '../../support/client.ts';

interface Reading {
  path: string;
  token?: string;
}

/** The answer has the status and is labelled as JSON. */
export const assertJson = (answer: JsonResponse<unknown>, status: number): void => {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
};

/** The answer is a refusal with `error` and no other member. */
export const assertError = (answer: JsonResponse<unknown>, status: number, error: string | RegExp): void => {
  assertJson(answer, status);
  const body = answer.json as { error: string };
  assert.deepEqual(Object.keys(body), ['error'], answer.text);
  if (typeof error === 'string') assert.equal(body.error, error);
  else assert.match(body.error, error);
};

/** The answer is a task's refusal that lists exactly these messages. */
export const assertInvalidTask = (answer: JsonResponse<unknown>, detail: readonly string[]): void => {
  assertJson(answer, 400);
  assert.equal(answer.text, JSON.stringify({ error: 'Validation failed', detail }));
};

/** The answer is a 401 that names the scheme. */
export const assertUnauthorized = (answer: JsonResponse<unknown>, error: string | RegExp): void => {
  assertError(answer, 401, error);
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
};

/** The response of `path` is the same before and after `run`, to the byte. */
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
