import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createClaims, createHmacSigner, signToken } from '../support/tokens.ts';
import { waitUntil } from '../support/wait.ts';
import { assertUnauthorized } from './support/assertions.ts';

const now = () => Math.floor(Date.now() / 1000);

test('a token is valid up to and including the second of its exp', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['items'] } });
  await waitUntil('a response comes in the second of exp', async () => {
    const exp = now();
    const token = signToken(createClaims({ iat: exp - 3600, exp }));
    const { status, text } = await app.request('GET', '/api/items', { token });
    if (now() !== exp) return false;
    assert.equal(status, 200, text);
    return true;
  });
});

test('a token that was accepted is rejected once it has expired', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['items'] } });
  const exp = now() + 1;
  const token = signToken(createClaims({ exp }));
  const read = async () => (await app.request('GET', '/api/items', { token })).status;
  assert.equal(await read(), 200);
  await waitUntil('the token is refused', async () => (await read()) === 401);
  assert.ok(now() > exp);
});

test('expiry is reported before the algorithm, then the signature, then the claims', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['items'] } });
  const sign = createHmacSigner('another secret');
  const wrong = { iss: 'another', sub: undefined, role: 'King' };
  const expired = { ...wrong, iat: 1, exp: 2 };
  const rows: [token: string, error: RegExp][] = [
    [signToken(createClaims(expired), { header: { alg: 'none' }, sign: () => new Uint8Array() }), /^Token expired$/],
    [signToken(createClaims(expired), { header: { alg: 'RS256' } }), /^Token expired$/],
    [signToken(createClaims(expired), { sign }), /^Token expired$/],
    [signToken({ exp: 2 }), /^Token expired$/],
    [signToken(createClaims(wrong), { header: { alg: 'HS512' }, sign }), /^Token validation failed: .*algorithm/],
    [signToken(createClaims(wrong), { sign }), /^Token validation failed: .*signature/],
    [signToken(createClaims(wrong)), /^Token validation failed: .*claim/],
  ];
  for (const [token, error] of rows) assertUnauthorized(await request('GET', '/api/items', { token }), error);
});
