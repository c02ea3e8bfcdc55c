import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { decodeToken, TokenError } from './decode.ts';
import { createKeys } from './keys.ts';
import { createTokens } from './token.ts';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const clock = () => new Date(1_800_000_000_999);
const user = { name: 'ada', role: 'Admin' } as const;
const createFor = (current: Buffer, previous?: Buffer) => createTokens(createKeys(current, previous), 'here', clock);

const sign = (header: object, secret: Buffer): string => {
  const claims = { sub: 'ada', role: 'Admin', iss: 'here', iat: 1_800_000_000, exp: 1_800_003_600 };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${signed.join('.')}.${createHmac('sha256', secret).update(signed.join('.')).digest('base64url')}`;
};

test('a token has its user, role, issuer and times in whole seconds', async () => {
  const { header, claims } = decodeToken(await createFor(first).sign(user));
  assert.deepEqual(header, { alg: 'HS256', typ: 'JWT' });
  const times = { iat: 1_800_000_000, exp: 1_800_003_600 };
  assert.deepEqual(claims, { sub: 'ada', role: 'Admin', iss: 'here', ...times });
});

test('with two keys a token names the key that signed it by an id that reveals nothing about the key', async () => {
  const { header } = decodeToken(await createFor(first, second).sign(user));
  const id = createHmac('sha256', first).update('signalbox key id').digest('base64url').slice(0, 11);
  assert.deepEqual(header, { alg: 'HS256', typ: 'JWT', kid: id });
});

test('tokens of the previous key are accepted with or without a key id, and those of other keys are rejected', async () => {
  const { verify } = createFor(second, first);
  const who = { ...user, issuer: 'here' };
  assert.deepEqual(await verify(await createFor(first).sign(user)), who);
  assert.deepEqual(await verify(await createFor(first, second).sign(user)), who);
  assert.deepEqual(await verify(await createFor(second).sign(user)), who);
  const mismatch = { message: 'Token validation failed: the signature does not match' };
  await assert.rejects(createFor(second).verify(await createFor(first).sign(user)), mismatch);
});

test('a token that names a key is checked with that key only', async () => {
  const { verify } = createFor(first, second);
  const { kid } = decodeToken(await createFor(second, first).sign(user)).header;
  assert.ok(await verify(sign({ alg: 'HS256', kid }, second)));
  await assert.rejects(verify(sign({ alg: 'HS256', kid }, first)), /signature does not match/);
  for (const other of ['', 'x', 1, null, ['x'], {}]) {
    await assert.rejects(verify(sign({ alg: 'HS256', kid: other }, first)), {
      constructor: TokenError,
      message: 'Token validation failed: the key id is unknown',
    });
  }
});
