import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeys } from './keys.ts';
import { createTokens } from './token.ts';

/** The example of RFC 7515, A.1: key, token, and a second at which it is valid. */
const key = Buffer.from(
  'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
  'base64url',
);
const token =
  'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9' +
  '.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ' +
  '.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const clock = () => new Date(1_300_819_380_000);

test('the signature of the RFC 7515 A.1 token is accepted, and the token is rejected only for its claims', async () => {
  const { verify } = createTokens(createKeys(key), 'joe', clock);
  await assert.rejects(verify(token), { message: 'Token validation failed: the claim sub is not a name' });
});

test('the RFC 7515 A.1 token is rejected with another key or with changed claims', async () => {
  const mismatch = { message: 'Token validation failed: the signature does not match' };
  const other = createKeys(Buffer.alloc(32), Buffer.alloc(32, 1));
  await assert.rejects(createTokens(other, 'joe', clock).verify(token), mismatch);
  const [header, , signature] = token.split('.');
  const claims = Buffer.from('{"iss":"joe","exp":1300819380}').toString('base64url');
  const changed = `${header}.${claims}.${signature}`;
  await assert.rejects(createTokens(createKeys(key), 'joe', clock).verify(changed), mismatch);
});

test('the RFC 7515 A.1 token is expired one second after its exp', async () => {
  const late = () => new Date(clock().getTime() + 1000);
  await assert.rejects(createTokens(createKeys(key), 'joe', late).verify(token), {
    message: 'Token expired',
  });
});

test('an unexpected error while a signature is checked is not reported as an invalid token', async () => {
  const { keys, ...rest } = { keys: new Map([['id', 'no key']]), current: createKeys(key).current };
  const broken = { ...rest, byId: keys as never, currentId: undefined };
  await assert.rejects(createTokens(broken, 'joe', clock).verify(token), TypeError);
});
