import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createClaims, createHmacSigner, signToken } from '../support/tokens.ts';
import { waitUntil } from '../support/wait.ts';
import { assertRefused, failed } from './support/refused-tokens.ts';

const now = () => Math.floor(Date.now() / 1000);

test('a token whose exp is in the past gets 401 `Token expired`', async (t) => {
  const tokens = [now() - 1, now() - 3600, 1, 0, -1].map((exp) => signToken(createClaims({ iat: exp - 3600, exp })));
  await assertRefused(t, tokens, 'Token expired');
});

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

test('exp must be a whole number', async (t) => {
  const values = [undefined, null, '', String(now() + 60), now() + 60.5, true, [now() + 60], {}];
  const tokens = values.map((exp) => signToken(createClaims({ exp })));
  const huge = JSON.stringify(createClaims()).replace(/"exp":\d+/, '"exp":1e999');
  await assertRefused(t, [...tokens, signToken(huge)], failed);
});

test('expiry is reported before a wrong algorithm, signature or claim', async (t) => {
  const expired = { iat: 1, exp: 2 };
  await assertRefused(
    t,
    [
      signToken(createClaims(expired), { header: { alg: 'none' }, sign: () => new Uint8Array() }),
      signToken(createClaims(expired), { header: { alg: 'RS256' } }),
      signToken(createClaims(expired), { sign: createHmacSigner('another secret') }),
      signToken(createClaims({ ...expired, iss: 'another', sub: undefined, role: 'King' })),
      signToken({ exp: 2 }),
    ],
    'Token expired',
  );
});
