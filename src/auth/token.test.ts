import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  assertHeader,
  assertNotExpired,
  createTokenSecrets,
  createTokens,
  decodeToken,
  type FindGrant,
  RevokedToken,
  TokenError,
  type TokenGrant,
  type Tokens,
  toGeneration,
  toPrincipal,
} from './token.ts';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const atIssue = () => new Date(1_800_000_000_999);
const user = { name: 'ada', role: 'Admin' } as const;
const createFor = (current: Buffer, previous?: Buffer, findGrant?: FindGrant) =>
  createTokens(createTokenSecrets(current, previous), 'here', atIssue, findGrant);

const sign = (header: object, secret: Buffer): string => {
  const claims = { sub: 'ada', role: 'Admin', iss: 'here', iat: 1_800_000_000, exp: 1_800_003_600 };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${signed.join('.')}.${createHmac('sha256', secret).update(signed.join('.')).digest('base64url')}`;
};

test('a token has its user, role, issuer and times in whole seconds', () => {
  const { header, claims } = decodeToken(createFor(first).sign(user));
  assert.deepEqual(header, { alg: 'HS256', typ: 'JWT' });
  const times = { iat: 1_800_000_000, exp: 1_800_003_600 };
  assert.deepEqual(claims, { sub: 'ada', role: 'Admin', iss: 'here', ...times });
});

test('with two keys a token names the key that signed it by an id that reveals nothing about the key', () => {
  const { header } = decodeToken(createFor(first, second).sign(user));
  const id = createHmac('sha256', first).update('signalbox key id').digest('base64url').slice(0, 11);
  assert.deepEqual(header, { alg: 'HS256', typ: 'JWT', kid: id });
});

test('tokens of the previous key are accepted with or without a key id, and those of other keys are rejected', () => {
  const { verify } = createFor(second, first);
  const who = { ...user, issuer: 'here' };
  assert.deepEqual(verify(createFor(first).sign(user)), who);
  assert.deepEqual(verify(createFor(first, second).sign(user)), who);
  assert.deepEqual(verify(createFor(second).sign(user)), who);
  const mismatch = { message: 'Token validation failed: the signature does not match' };
  assert.throws(() => createFor(second).verify(createFor(first).sign(user)), mismatch);
});

test('an accepted token is rejected after its expiry, its revocation or any change of its text', () => {
  let seconds = 1_800_000_000;
  const grants = new Map<string, TokenGrant>();
  const tokens = createTokens(
    createTokenSecrets(first),
    'here',
    () => new Date(seconds * 1000),
    (name) => grants.get(name),
  );
  const { sign: signFor, verify } = tokens;
  const token = signFor(user);
  for (let count = 0; count < 2; count += 1) assert.equal(verify(token).name, 'ada');
  assert.throws(() => verify(`${token.slice(0, -4)}AAA${token.at(-1)}`), /signature does not match/);
  // More tokens than the cache holds.
  for (let count = 0; count < 500; count += 1) assert.ok(verify(signFor({ ...user, name: `user ${count}` })));
  assert.equal(verify(token).name, 'ada');
  seconds += 3601;
  assert.throws(() => verify(token), { message: 'Token expired' });
  seconds -= 3601;
  grants.set('ada', toGrant(1));
  assert.throws(() => verify(token), { message: 'Token validation failed: the user has been removed or changed' });
});

const toGrant = (order: number | undefined, role: TokenGrant['role'] = 'Admin'): TokenGrant => ({
  role,
  generation: order === undefined ? undefined : toGeneration('c', order, 'x'),
  notBefore: Number.POSITIVE_INFINITY,
});

test('exactly the tokens of the current generation are accepted, whatever the clocks of issuers and readers show', () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('wait' as const), seconds: fc.integer({ min: -2000, max: 2000 }) }),
    fc.record({ type: fc.constantFrom('sign', 'revoke', 'delete', 'restore'), name: fc.constantFrom('ada', 'bob') }),
    fc.record({ type: fc.constant('restart' as const) }),
  );
  const run = (steps: (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): void => {
    let seconds = 1_800_000_000;
    let order = 0;
    const grants = new Map<string, TokenGrant>();
    const create = () =>
      createTokens(
        createTokenSecrets(first),
        'here',
        () => new Date(seconds * 1000),
        (name) => grants.get(name) ?? toGrant(undefined),
      );
    let tokens = create();
    const issued: { name: string; token: string; isRevoked: boolean }[] = [];
    for (const one of steps) {
      if ('seconds' in one) seconds += one.seconds;
      else if (one.type === 'restart') tokens = create();
      else if ('name' in one && one.type === 'sign') {
        if (grants.get(one.name)?.role === undefined && grants.has(one.name)) continue;
        issued.push({ name: one.name, token: tokens.sign({ ...user, name: one.name }), isRevoked: false });
      } else if ('name' in one) {
        order += 1;
        grants.set(one.name, { ...toGrant(order), role: one.type === 'delete' ? undefined : 'Admin' });
        for (const each of issued) each.isRevoked ||= each.name === one.name;
      }
      for (const { token, isRevoked, name } of issued) {
        const { iat, exp } = decodeToken(token).claims as { iat: number; exp: number };
        if (exp < seconds || iat > seconds + 60) assert.throws(() => tokens.verify(token), TokenError);
        else if (isRevoked) assert.throws(() => tokens.verify(token), /removed or changed/);
        else assert.equal(tokens.verify(token).name, name);
      }
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), run));
});

test('a token without a generation is accepted for an account without revocations, in its role only', () => {
  const token = sign({ alg: 'HS256' }, first);
  const readGrant = (grant: TokenGrant | undefined) => createFor(first, undefined, () => grant).verify(token).role;
  assert.equal(readGrant(undefined), 'Admin');
  assert.equal(readGrant(toGrant(undefined)), 'Admin');
  for (const grant of [toGrant(undefined, 'Reader'), toGrant(1), { ...toGrant(undefined), role: undefined }]) {
    assert.throws(() => readGrant(grant), { constructor: RevokedToken, isAhead: false });
  }
});

test('tokens of another issuer are refused up to the second in which their user logged out everywhere', () => {
  const token = sign({ alg: 'HS256' }, first);
  const readUntil = (notBefore: number) =>
    createFor(first, undefined, () => ({ role: undefined, generation: undefined, notBefore })).verify(token).name;
  assert.equal(readUntil(1_799_999_999), 'ada');
  assert.throws(() => readUntil(1_800_000_000), RevokedToken);
});

test('a token of a later generation shows that the known accounts are outdated', () => {
  const [one, other] = [12, 9].map((order) => createFor(first, undefined, () => toGrant(order))) as [Tokens, Tokens];
  assert.throws(() => other.verify(one.sign(user)), { constructor: RevokedToken, isAhead: true });
  assert.throws(() => one.verify(other.sign(user)), { constructor: RevokedToken, isAhead: false });
});

test('a token that names a key is checked with that key only', () => {
  const { verify } = createFor(first, second);
  const { kid } = decodeToken(createFor(second, first).sign(user)).header;
  assert.ok(verify(sign({ alg: 'HS256', kid }, second)));
  assert.throws(() => verify(sign({ alg: 'HS256', kid }, first)), /signature does not match/);
  for (const other of ['', 'x', 1, null, ['x'], {}]) {
    assert.throws(() => verify(sign({ alg: 'HS256', kid: other }, first)), {
      constructor: TokenError,
      message: 'Token validation failed: the key id is unknown',
    });
  }
});

/** Example of RFC 7515, A.1: a key, a token, and a second at which the token is valid. */
const rfcKey = Buffer.from(
  'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
  'base64url',
);
const rfcToken =
  'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9' +
  '.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ' +
  '.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const rfcClock = () => new Date(1_300_819_380_000);

test('the signature of the RFC 7515 A.1 token is accepted, and the token is rejected only for its claims', () => {
  const { verify } = createTokens(createTokenSecrets(rfcKey), 'joe', rfcClock);
  assert.throws(() => verify(rfcToken), { message: 'Token validation failed: the claim sub is not a name' });
});

test('the RFC 7515 A.1 token is rejected with another key or with changed claims', () => {
  const mismatch = { message: 'Token validation failed: the signature does not match' };
  const other = createTokenSecrets(Buffer.alloc(32), Buffer.alloc(32, 1));
  assert.throws(() => createTokens(other, 'joe', rfcClock).verify(rfcToken), mismatch);
  const [header, , signature] = rfcToken.split('.');
  const claims = Buffer.from('{"iss":"joe","exp":1300819380}').toString('base64url');
  const changed = `${header}.${claims}.${signature}`;
  assert.throws(() => createTokens(createTokenSecrets(rfcKey), 'joe', rfcClock).verify(changed), mismatch);
});

test('the RFC 7515 A.1 token is expired one second after its exp', () => {
  const late = () => new Date(rfcClock().getTime() + 1000);
  assert.throws(() => createTokens(createTokenSecrets(rfcKey), 'joe', late).verify(rfcToken), {
    message: 'Token expired',
  });
});

test('an unexpected error while a signature is checked is not reported as an invalid token', () => {
  const { keys, ...rest } = { keys: new Map([['id', 1]]), current: createTokenSecrets(rfcKey).current };
  const broken = { ...rest, byId: keys as never, currentId: undefined };
  assert.throws(() => createTokens(broken, 'joe', rfcClock).verify(rfcToken), TypeError);
});

const now = 1_800_000_000;
const good = { sub: 'ada', role: 'Reader', iss: 'here', iat: now, exp: now + 3600 };
const numbers = [undefined, null, '1', 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, [], true];

const assertClaimsRefused = (run: () => unknown, message: string): void => {
  assert.throws(run, { constructor: TokenError, message });
};

const assertFails = (changes: object, cause: string): void =>
  assertClaimsRefused(() => toPrincipal({ ...good, ...changes }, 'here', now), `Token validation failed: ${cause}`);

test('a token is valid up to and including the second of its exp', () => {
  assertNotExpired({ exp: now }, now);
  assertClaimsRefused(() => assertNotExpired({ exp: now - 1 }, now), 'Token expired');
  for (const exp of numbers) {
    const message = 'Token validation failed: the claim exp is not a whole number';
    assertClaimsRefused(() => assertNotExpired({ exp }, now), message);
  }
});

test('a token header may have only the algorithm HS256 and the parameters typ and kid', () => {
  assertHeader({ alg: 'HS256' });
  assertHeader({ alg: 'HS256', typ: 'JWT', kid: 'x' });
  for (const alg of [undefined, 'none', 'HS384', 'hs256', 'RS256', ['HS256'], '']) {
    assertClaimsRefused(() => assertHeader({ alg }), 'Token validation failed: the algorithm is not HS256');
  }
  for (const name of ['crit', 'b64', 'jwk', 'jku', 'x5u', 'cty', 'zip', 'ALG', '']) {
    assertClaimsRefused(
      () => assertHeader({ alg: 'HS256', [name]: undefined }),
      'Token validation failed: the header has an unsupported parameter',
    );
  }
  for (const typ of ['jwt', 'at+jwt', '', null, 1]) {
    assertClaimsRefused(() => assertHeader({ alg: 'HS256', typ }), 'Token validation failed: the type is not JWT');
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
  assertFails({ exp: good.exp + 1 }, 'the token lifetime is too long');
});

test('a token is rejected more than a minute before its nbf, or if it has an audience', () => {
  for (const nbf of numbers.slice(1)) assertFails({ nbf }, 'the claim nbf is not a whole number');
  assert.ok(toPrincipal({ ...good, nbf: now + 60 }, 'here', now));
  assertFails({ nbf: now + 61 }, 'the token is not valid yet');
  for (const aud of ['here', [], '', null]) assertFails({ aud }, 'the token is for another audience');
});

const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
const [header, claims] = [encode('{"alg":"x"}'), encode('{"sub":"\u00e9"}')];

const assertNotDecoded = (token: string, message: string): void => {
  assert.throws(() => decodeToken(token), { constructor: TokenError, message }, token.slice(0, 200));
};

test('decoding returns header and claims without checking the signature', () => {
  const expected = { header: { alg: 'x' }, claims: { sub: '\u00e9' } };
  assert.deepEqual(decodeToken(`${header}.${claims}.AAAA`), expected);
  assert.deepEqual(decodeToken(`${header}.${claims}.`), expected);
});

test('a token longer than 4,096 characters is rejected', () => {
  const start = `${header}.${claims}.`;
  const longest = start + 'A'.repeat(4096 - start.length);
  assert.ok(decodeToken(longest));
  assertNotDecoded(`${longest}A`, 'Token validation failed: the token is longer than 4096 characters');
});

test('a part of a token that is not canonical base64url is rejected', () => {
  const cases: [string, string][] = [
    [`${header}.${claims}.A`, 'signature'],
    [`${header}.${claims}.AB`, 'signature'],
    [`${header}.${claims}.AA==`, 'signature'],
    [`${header}.${claims}.A+/A`, 'signature'],
    [`${header}.${claims}.AAAA\n`, 'signature'],
    [`${header}=.${claims}.AAAA`, 'header'],
    [`${header}.${claims} .AAAA`, 'claims'],
  ];
  for (const [token, part] of cases) {
    assertNotDecoded(token, `Token validation failed: the ${part} cannot be decoded`);
  }
});
