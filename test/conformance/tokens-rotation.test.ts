import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { secret, startApp, startRefusal } from '../support/app.ts';
import { createClaims, createHmacSigner, readPart, signToken } from '../support/tokens.ts';

const [older, newer] = ['the signing key of last year: 32+', 'the signing key of this year: 32+'];

/** Starts a server with these secrets. */
const startWith = async (t: TestContext, jwtSecret: string, jwtPreviousSecret?: string) => {
  const settings = { profiles: ['items', 'login'], jwtSecret, jwtPreviousSecret };
  const { login, request, close } = await startApp(t, { settings });
  const statusFor = async (token: string): Promise<number> => (await request('GET', '/api/items', { token })).status;
  return { login: () => login('admin'), statusFor, stop: close };
};

test('the secret can be changed without downtime: two servers, restarted in turn, accept all current tokens', async (t) => {
  const [a, b] = [await startWith(t, older), await startWith(t, older)];
  const first = await a.login();
  assert.equal(await b.statusFor(first), 200);
  // Every server must accept the new secret before any server signs with it.
  await a.stop();
  const preparedA = await startWith(t, older, newer);
  const second = await preparedA.login();
  assert.deepEqual([await preparedA.statusFor(first), await b.statusFor(second)], [200, 200]);
  await b.stop();
  const preparedB = await startWith(t, older, newer);
  assert.deepEqual([await preparedB.statusFor(first), await preparedB.statusFor(second)], [200, 200]);
  await preparedA.stop();
  const changedA = await startWith(t, newer, older);
  const third = await changedA.login();
  for (const token of [first, second, third]) {
    assert.deepEqual([await changedA.statusFor(token), await preparedB.statusFor(token)], [200, 200]);
  }
  await changedA.stop();
  const doneA = await startWith(t, newer);
  const statuses = [first, second, third, await doneA.login()].map(doneA.statusFor);
  assert.deepEqual(await Promise.all(statuses), [401, 401, 200, 200]);
});

const settings = { profiles: ['items', 'login'], jwtSecret: secret, jwtPreviousSecret: older };

test('with two secrets a token names its key, and only that key checks the token', async (t) => {
  const app = await startApp(t, { settings });
  const token = await app.login('reader');
  const { kid, ...rest } = readPart(token, 0);
  assert.deepEqual(rest, { alg: 'HS256', typ: 'JWT' });
  assert.match(String(kid), /^[\w-]{11}$/);
  const statusFor = async (key: string, header: object) => {
    const other = signToken(createClaims(), { header, sign: createHmacSigner(key) });
    return (await app.request('GET', '/api/items', { token: other })).status;
  };
  const named = { alg: 'HS256', kid };
  assert.deepEqual([await statusFor(secret, named), await statusFor(older, named)], [200, 401]);
  const unnamed = { alg: 'HS256' };
  const keys = [secret, older, newer].map((key) => statusFor(key, unnamed));
  assert.deepEqual(await Promise.all(keys), [200, 200, 401]);
});

test('a previous secret that is too short, has no current one or equals it prevents startup', async (t) => {
  const refusals: [Record<string, unknown>, RegExp][] = [
    [{ jwtPreviousSecret: 'q'.repeat(31) }, /^jwtPreviousSecret must be at least 32 bytes long, not 31$/],
    [{ jwtSecret: undefined }, /^jwtPreviousSecret has no effect without jwtSecret: set both$/],
    [{ jwtPreviousSecret: secret }, /^jwtPreviousSecret must differ from jwtSecret$/],
    [{ jwtSecret: 'x', jwtPreviousSecret: 'y' }, /^jwtSecret must be .* not 1; jwtPreviousSecret must be .* not 1$/],
  ];
  for (const [changes, message] of refusals) {
    assert.match(await startRefusal(t, { settings: { ...settings, ...changes } }), message);
  }
});
