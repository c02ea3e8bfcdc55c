import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertHeader, assertNotExpired, toPrincipal } from './claims.ts';
import { TokenError } from './decode.ts';

const now = 1_800_000_000;
const good = { sub: 'ada', role: 'Reader', iss: 'here', iat: now, exp: now + 3600 };
const numbers = [undefined, null, '1', 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, [], true];

const assertRefused = (run: () => unknown, message: string): void => {
  assert.throws(run, { constructor: TokenError, message });
};

const assertFails = (changes: object, cause: string): void =>
  assertRefused(() => toPrincipal({ ...good, ...changes }, 'here', now), `Token validation failed: ${cause}`);

test('a token is valid up to and including the second of its exp', () => {
  assertNotExpired({ exp: now }, now);
  assertRefused(() => assertNotExpired({ exp: now - 1 }, now), 'Token expired');
  for (const exp of numbers) {
    const message = 'Token validation failed: the claim exp is not a whole number';
    assertRefused(() => assertNotExpired({ exp }, now), message);
  }
});

test('a token header may have only the algorithm HS256 and the parameters typ and kid', () => {
  assertHeader({ alg: 'HS256' });
  assertHeader({ alg: 'HS256', typ: 'JWT', kid: 'x' });
  for (const alg of [undefined, 'none', 'HS384', 'hs256', 'RS256', ['HS256'], '']) {
    assertRefused(() => assertHeader({ alg }), 'Token validation failed: the algorithm is not HS256');
  }
  for (const name of ['crit', 'b64', 'jwk', 'jku', 'x5u', 'cty', 'zip', 'ALG', '']) {
    assertRefused(
      () => assertHeader({ alg: 'HS256', [name]: undefined }),
      'Token validation failed: the header has a parameter that is not supported',
    );
  }
  for (const typ of ['jwt', 'at+jwt', '', null, 1]) {
    assertRefused(() => assertHeader({ alg: 'HS256', typ }), 'Token validation failed: the type is not JWT');
  }
});

test('valid claims become a principal with name, role and issuer', () => {
  assert.deepEqual(toPrincipal(good, 'here', now), { name: 'ada', role: 'Reader', issuer: 'here' });
  const admin = toPrincipal({ ...good, role: 'Admin', nbf: now, other: 1 }, 'here', now);
  assert.deepEqual(admin, { name: 'ada', role: 'Admin', issuer: 'here' });
});

test('a token without a name, a known role or the expected issuer is rejected', () => {
  for (const sub of [undefined, '', 1, null, ['ada']]) assertFails({ sub }, 'the claim sub is not a name');
  for (const role of [undefined, '', 'admin', 'Root', ['Admin'], 0]) {
    assertFails({ role }, 'the claim role is not Admin or Reader');
  }
  for (const iss of [undefined, '', 'Here', ['here']]) assertFails({ iss }, 'the claim iss does not match the issuer');
});

test('a token issued more than a minute in the future, or valid for more than an hour, is rejected', () => {
  for (const iat of numbers) assertFails({ iat }, 'the claim iat is not a whole number');
  assert.ok(toPrincipal({ ...good, iat: now + 60 }, 'here', now));
  assertFails({ iat: now + 61 }, 'the claim iat is in the future');
  assertFails({ exp: good.exp + 1 }, 'the token is valid for too long');
});

test('a token is rejected more than a minute before its nbf, or if it has an audience', () => {
  for (const nbf of numbers.slice(1)) assertFails({ nbf }, 'the claim nbf is not a whole number');
  assert.ok(toPrincipal({ ...good, nbf: now + 60 }, 'here', now));
  assertFails({ nbf: now + 61 }, 'the token is not valid yet');
  for (const aud of ['here', [], '', null]) assertFails({ aud }, 'the token is for another audience');
});
