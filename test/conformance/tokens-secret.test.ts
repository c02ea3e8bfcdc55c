import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, startRefusal } from '../support/app.ts';
import { createClaims, createHmacSigner, signToken } from '../support/tokens.ts';
import { assertJson, assertUnauthorized } from './support/assertions.ts';

const profiles = ['items', 'login'];
const mismatch = /^Token validation failed: ./;

test('the signing secret is SIGNALBOX_JWT_SECRET', async (t) => {
  const secret = 'thirty-two bytes, exactly, not 1';
  const settings = { profiles: ['items'], jwtSecret: undefined };
  const { request } = await startApp(t, { settings, variables: { SIGNALBOX_JWT_SECRET: secret } });
  const token = signToken(createClaims(), { sign: createHmacSigner(secret) });
  assert.equal((await request('GET', '/api/items', { token })).status, 200);
});

test('a secret of fewer than 32 bytes prevents startup, and is not shown', async (t) => {
  for (const jwtSecret of ['x', 'q'.repeat(31), '漢'.repeat(10)]) {
    const said = await startRefusal(t, { settings: { profiles, jwtSecret } });
    assert.match(said, /^jwtSecret must be at least 32 bytes long, not \d+$/);
    assert.equal(said.includes(jwtSecret.repeat(2)), false);
  }
});

test('the length of a secret counts bytes, and 32 are enough', async (t) => {
  for (const jwtSecret of ['x'.repeat(32), 'é'.repeat(16)]) {
    const app = await startApp(t, { settings: { profiles, jwtSecret } });
    assertJson(await app.request('GET', '/api/items', { token: await app.login('admin') }), 200);
  }
});

test('without a secret a random one is generated for the run, and tokens of other runs are rejected', async (t) => {
  const settings = { profiles, jwtSecret: undefined };
  const [first, second] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await first.login('admin');
  assertJson(await first.request('GET', '/api/items', { token }), 200);
  assertUnauthorized(await second.request('GET', '/api/items', { token }), mismatch);
});

test('without a secret the log says that tokens are valid only for this run', async (t) => {
  const silent = await startApp(t, { settings: { profiles } });
  const random = await startApp(t, { settings: { profiles, jwtSecret: undefined } });
  const said = /become invalid when the server stops; --keep-secrets keeps them valid/;
  assert.match(random.remarks.join('\n'), said);
  assert.doesNotMatch(silent.remarks.join('\n'), said);
});
