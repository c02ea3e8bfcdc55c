import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { listTokensWithBadClaims } from './support/hostile-claims.ts';
import { listForgedTokens, listTokensWithBadHeaders } from './support/hostile-headers.ts';
import { listMisspeltTokens, listUndecodableTokens } from './support/hostile-parts.ts';

test('each of more than 100 hostile tokens is rejected with the error of its own fault', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['items'] } });
  const tokens = [
    ...listMisspeltTokens(),
    ...listUndecodableTokens(),
    ...listTokensWithBadHeaders(),
    ...listForgedTokens(),
    ...listTokensWithBadClaims(),
  ];
  assert.ok(tokens.length > 100, `${tokens.length} tokens`);
  for (const [fault, token, message] of tokens) {
    const { status, json } = await request('GET', '/api/items', { token });
    assert.equal(status, 401, fault);
    assert.match(String(json['error']), typeof message === 'string' ? new RegExp(`^${message}$`) : message, fault);
  }
  assert.equal((await request('GET', '/api/items', { token: signToken(createClaims()) })).status, 200);
});

test('a token with nbf is accepted from that time on', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['items'] } });
  const nbf = Math.floor(Date.now() / 1000);
  for (const changes of [{ nbf }, { nbf: 0 }, { nbf: nbf - 3600 }, {}]) {
    const token = signToken(createClaims(changes));
    assert.equal((await request('GET', '/api/items', { token })).status, 200);
  }
});
