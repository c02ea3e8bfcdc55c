import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { createRequest } from '../../test/support/app.ts';
import { createBareServer } from '../../test/support/server.ts';
import { sendError } from '../http/error-response.ts';
import { createAccessKeys, needs, openFor } from './access.ts';
import { createAuthorize, createGuard, findPrincipal, principalOf } from './guard.ts';
import { createTokenSecrets, createTokens, type Tokens } from './token.ts';

const keys = createTokenSecrets(Buffer.alloc(32));
const tokens = createTokens(keys, 'here', () => new Date());

/** Starts an app with three routes: one open, one that needs a token, and one that needs an Admin's token. */
const start = (t: TestContext, used: Tokens = tokens) => {
  const app = createBareServer();
  const log = pino({ level: 'silent' });
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log));
  const guard = createGuard(app, createAuthorize(used, createAccessKeys([])));
  app.get('/open', { onRequest: guard(openFor('settings:read')) }, (request) => ({
    caller: findPrincipal(request) ?? null,
  }));
  app.get('/token', { onRequest: guard(needs('settings:read')) }, (request) => principalOf(request));
  app.get('/admin', { onRequest: guard(needs('settings:write')) }, (request) => ({ caller: findPrincipal(request) }));
  const request = createRequest(t, app);
  return async (path: string, authorization?: string): Promise<[number, Record<string, unknown>]> => {
    const headers = authorization === undefined ? {} : { authorization };
    const { status, json } = await request('GET', path, { headers });
    return [status, json];
  };
};

test('a protected route identifies the caller, with or without the Bearer prefix in any case', async (t) => {
  const ask = start(t);
  const token = tokens.sign({ name: 'ada', role: 'Reader' });
  for (const prefix of ['Bearer ', 'bearer ', 'BEARER   ', '']) {
    const who = { name: 'ada', role: 'Reader', issuer: 'here' };
    assert.deepEqual(await ask('/token', prefix + token), [200, who], prefix);
  }
  const format = [401, { error: 'Invalid token format' }];
  assert.deepEqual(await ask('/token', `Bearer${token}.`), format);
  assert.deepEqual(await ask('/token', `x Bearer ${token}.x`), format);
  assert.deepEqual(await ask('/token', `Basic ${token}.x`), format);
  // Removing a prefix from the middle would leave a valid token.
  const undecodable = [401, { error: 'Token validation failed: the header cannot be decoded' }];
  assert.deepEqual(await ask('/token', `${token.slice(0, 9)}Bearer ${token.slice(9)}`), undecodable);
  const [status, { error }] = await ask('/token', `${token}Bearer`);
  assert.deepEqual([status, /^Token validation failed: the signature/.test(String(error))], [401, true]);
});

test('an unexpected error while a token is checked is a 500, not a 401', async (t) => {
  const verify = () => {
    throw new RangeError('a fault');
  };
  const ask = start(t, { ...tokens, verify });
  const [status, body] = await ask('/token', 'x');
  assert.deepEqual([status, body.error], [500, 'Internal server error']);
});
