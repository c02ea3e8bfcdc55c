import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Fastify from 'fastify';
import { pino } from 'pino';
import { createRequest } from '../../test/support/app.ts';
import { sendError } from '../http/response/error-response.ts';
import { createAccessKeys } from './access-keys.ts';
import { createGuard, findPrincipal, principalOf } from './guard.ts';
import { createKeys } from './keys.ts';
import { createTokens, type Tokens } from './token.ts';

const keys = createKeys(Buffer.alloc(32));
const tokens = createTokens(keys, 'here', () => new Date());

/** Asks a route for holders of a token, of an Admin's token, or for all. */
const start = (t: TestContext, used: Tokens = tokens) => {
  const app = Fastify();
  const log = pino({ level: 'silent' });
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log));
  const guard = createGuard(app, used, createAccessKeys([]));
  app.get('/open', { onRequest: guard('open') }, (request) => ({ caller: findPrincipal(request) ?? null }));
  app.get('/token', { onRequest: guard('token') }, (request) => principalOf(request));
  app.get('/admin', { onRequest: guard('admin') }, (request) => ({ caller: findPrincipal(request) }));
  const request = createRequest(t, app);
  return async (path: string, authorization?: string): Promise<[number, Record<string, unknown>]> => {
    const headers = authorization === undefined ? {} : { authorization };
    const { status, json } = await request('GET', path, { headers });
    return [status, json];
  };
};

test('an open route asks nobody', async (t) => {
  const ask = start(t);
  assert.deepEqual(await ask('/open'), [200, { caller: null }]);
  assert.deepEqual(await ask('/open', 'Bearer x'), [200, { caller: null }]);
});

test('a route for holders of a token knows them, with or without a prefix in any case', async (t) => {
  const ask = start(t);
  const token = await tokens.sign({ name: 'ada', role: 'Reader' });
  for (const prefix of ['Bearer ', 'bearer ', 'BEARER   ', '']) {
    const who = { name: 'ada', role: 'Reader', issuer: 'here' };
    assert.deepEqual(await ask('/token', prefix + token), [200, who], prefix);
  }
  const format = [401, { error: 'Invalid token format' }];
  assert.deepEqual(await ask('/token', `Bearer${token}.`), format);
  assert.deepEqual(await ask('/token', `x Bearer ${token}.x`), format);
  assert.deepEqual(await ask('/token', `Basic ${token}.x`), format);
  // What a prefix in the middle would leave if it were taken away is a valid token.
  const undecodable = [401, { error: 'Token validation failed: the header cannot be decoded' }];
  assert.deepEqual(await ask('/token', `${token.slice(0, 9)}Bearer ${token.slice(9)}`), undecodable);
  const [status, { error }] = await ask('/token', `${token}Bearer`);
  assert.deepEqual([status, /^Token validation failed: the signature/.test(String(error))], [401, true]);
});

test('no token, or an empty one, is missing', async (t) => {
  const ask = start(t);
  for (const none of [undefined, '', 'Bearer', 'Bearer ', 'bearer  ']) {
    assert.deepEqual(await ask('/token', none), [401, { error: 'Missing token' }], none);
  }
});

test('a route for Admins refuses others, after who has no token at all', async (t) => {
  const ask = start(t);
  const admin = await tokens.sign({ name: 'root', role: 'Admin' });
  const reader = await tokens.sign({ name: 'ada', role: 'Reader' });
  const who = { name: 'root', role: 'Admin', issuer: 'here' };
  assert.deepEqual(await ask('/admin', admin), [200, { caller: who }]);
  assert.deepEqual(await ask('/admin', reader), [403, { error: 'This needs the role Admin' }]);
  assert.deepEqual(await ask('/admin'), [401, { error: 'Missing token' }]);
});

test('a fault of the program while a token is checked is no 401', async (t) => {
  const ask = start(t, { ...tokens, verify: () => Promise.reject(new RangeError('a fault')) });
  const [status, body] = await ask('/token', 'x');
  assert.deepEqual([status, body.error], [500, 'Internal server error']);
});
