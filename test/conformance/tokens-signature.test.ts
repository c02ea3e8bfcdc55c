import { createHash, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { test } from 'node:test';
import { createClaims, createHmacSigner, readPart, signToken } from '../support/tokens.ts';
import { assertRefused, failed } from './support/refused-tokens.ts';

const unsigned = () => new Uint8Array();

/** Returns the token with a changed part. */
const tamper = (token: string, index: number, change: (part: string) => string): string =>
  token
    .split('.')
    .map((part, position) => (position === index ? change(part) : part))
    .join('.');

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a token whose claims were changed after signing is rejected', async (t) => {
  const token = signToken(createClaims({ sub: 'reader', role: 'Reader' }));
  const claims = readPart(token, 1);
  const changes = [{ role: 'Admin' }, { sub: 'admin' }, { exp: (claims['exp'] as number) - 1 }, { more: 1 }];
  const tokens = changes.map((change) => tamper(token, 1, () => encode({ ...claims, ...change })));
  await assertRefused(t, tokens, failed);
});

test('a token with another signature is rejected: changed, shortened, taken from another token, or absent', async (t) => {
  const token = signToken(createClaims());
  const other = signToken(createClaims({ sub: 'other' })).split('.')[2] ?? '';
  const changes = [
    (part: string) => `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}`,
    (part: string) => part.slice(0, 40),
    (part: string) => `${part}${part}`,
    () => other,
    () => '',
  ];
  await assertRefused(
    t,
    changes.map((change) => tamper(token, 2, change)),
    failed,
  );
});

test('a token signed with another key is rejected', async (t) => {
  const keys = ['', 'another signing key of 32 bytes or more', createHash('sha256').update('x').digest()];
  const tokens = keys.map((key) => signToken(createClaims(), { sign: createHmacSigner(key) }));
  await assertRefused(t, tokens, failed);
});

test('an unsigned token is rejected in every spelling of `none`', async (t) => {
  const tokens = ['none', 'None', 'NONE', 'nOnE'].flatMap((alg) => [
    signToken(createClaims(), { header: { alg, typ: 'JWT' }, sign: unsigned }),
    signToken(createClaims(), { header: { alg, typ: 'JWT' } }),
  ]);
  await assertRefused(t, tokens, failed);
});

test('an algorithm other than exactly HS256 is rejected, even with a valid signature of that algorithm', async (t) => {
  const names = ['hs256', 'Hs256', 'HS256 ', 'RS256', 'ES256', '', undefined, null, 256, ['HS256'], {}];
  const tokens = names.map((alg) => signToken(createClaims(), { header: { alg, typ: 'JWT' } }));
  const stronger = ['sha384', 'sha512'].map((hash) =>
    signToken(createClaims(), {
      header: { alg: hash.replace('sha', 'HS'), typ: 'JWT' },
      sign: createHmacSigner(undefined, hash),
    }),
  );
  await assertRefused(t, [...tokens, ...stronger], failed);
});

test('an RS256 token is rejected, signed with RSA or with the secret', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const header = { alg: 'RS256', typ: 'JWT' };
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const sign = (signed: string) => signWith('sha256', Buffer.from(signed), privateKey);
  await assertRefused(
    t,
    [
      signToken(createClaims(), { header, sign }),
      signToken(createClaims(), { header }),
      signToken(createClaims(), { header, sign: createHmacSigner(pem) }),
      signToken(createClaims(), { sign: createHmacSigner(pem) }),
    ],
    failed,
  );
});

test('header parameters that change the meaning of a signature are rejected', async (t) => {
  const parameters = [{ crit: ['exp'] }, { b64: false, crit: ['b64'] }, { jwk: { kty: 'oct', k: '' } }, { jku: 'x' }];
  const tokens = [...parameters, { x5u: 'x' }, { zip: 'DEF' }].map((parameter) =>
    signToken(createClaims(), { header: { alg: 'HS256', typ: 'JWT', ...parameter } }),
  );
  await assertRefused(t, tokens, failed);
});

test('a wrong algorithm is reported before a wrong signature, and a wrong signature before wrong claims', async (t) => {
  const sign = createHmacSigner('another signing key of 32 bytes or more');
  const claims = createClaims({ sub: '', role: 'King', iss: 'another' });
  await assertRefused(
    t,
    [signToken(claims, { header: { alg: 'HS512' }, sign })],
    /^Token validation failed: .*algorithm/,
  );
  await assertRefused(t, [signToken(claims, { sign })], /^Token validation failed: .*signature/);
});
