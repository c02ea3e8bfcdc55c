import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { listTokensWithBadClaims } from './support/hostile-claims.ts';
import { listForgedTokens, listTokensWithBadHeaders } from './support/hostile-headers.ts';
import { listMisspeltTokens, listUndecodableTokens } from './support/hostile-parts.ts';
import { createClaims, signToken } from './support/tokens.ts';

/** The status of a GET with the header exactly as given, and the answer's `error`. */
const get = (port: number, authorization: string): Promise<{ status: number; error: string }> =>
  new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/api/items', headers: { authorization } };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, error: String(JSON.parse(text).error) }),
      );
    });
    sent.on('error', reject).end();
  });

test('D23v each of more than 100 hostile tokens is refused for its own fault, over the network', async (t) => {
  const { server } = await startApp(t, { settings: { profiles: ['items'] } });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const tokens = [
    ...listMisspeltTokens(),
    ...listUndecodableTokens(),
    ...listTokensWithBadHeaders(),
    ...listForgedTokens(),
    ...listTokensWithBadClaims(),
  ];
  assert.ok(tokens.length > 100, `${tokens.length} tokens`);
  for (const [fault, token, message] of tokens) {
    const { status, error } = await get(port, `Bearer ${token}`);
    assert.equal(status, 401, fault);
    assert.match(error, typeof message === 'string' ? new RegExp(`^${message}$`) : message, fault);
  }
  assert.equal((await get(port, `Bearer ${signToken(createClaims())}`)).status, 200);
});

test('D23w a token may say from when on it is valid, and is honoured from then', async (t) => {
  const { request: ask } = await startApp(t, { settings: { profiles: ['items'] } });
  const nbf = Math.floor(Date.now() / 1000);
  for (const changes of [{ nbf }, { nbf: 0 }, { nbf: nbf - 3600 }, {}]) {
    const token = signToken(createClaims(changes));
    assert.equal((await ask('GET', '/api/items', { token })).status, 200);
  }
});
