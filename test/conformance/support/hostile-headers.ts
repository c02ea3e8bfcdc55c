import { generateKeyPairSync, sign } from 'node:crypto';
import { secret } from '../../support/app.ts';
import {
  createClaims,
  createHmacSigner,
  encode,
  type HostileToken,
  signParts,
  signToken,
} from '../../support/tokens.ts';

const algorithm = 'Token validation failed: the algorithm is not HS256';
const parameter = 'Token validation failed: the header has an unsupported parameter';
const mismatch = 'Token validation failed: the signature does not match';
const unknownKey = 'Token validation failed: the key id is unknown';

/** Returns tokens with headers that ask for unsupported features. */
export const listTokensWithBadHeaders = (): HostileToken[] => {
  const algorithms = ['none', 'NONE', 'hs256', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA', 'dir', '', null];
  const parameters: object[] = [
    { crit: [] },
    { crit: ['exp'] },
    { crit: ['b64'], b64: false },
    { b64: true },
    { jwk: { kty: 'oct', k: encode(secret) } },
    { jku: 'http://127.0.0.1/keys' },
    { x5u: 'http://127.0.0.1/chain' },
    { x5c: [] },
    { zip: 'DEF' },
    { enc: 'A128GCM' },
    { cty: 'JWT' },
    { Alg: 'none' },
    { constructor: 1 },
  ];
  return [
    ...algorithms.map((alg): HostileToken => [`algorithm ${alg}`, withHeader({ alg }), algorithm]),
    ['no algorithm', signToken(createClaims(), { header: { typ: 'JWT' } }), algorithm],
    ['a list of algorithms', withHeader({ alg: ['HS256'] }), algorithm],
    ...parameters.map((extra): HostileToken => [JSON.stringify(extra), withHeader(extra), parameter]),
    [
      '__proto__',
      signParts(encode('{"alg":"HS256","__proto__":{"b64":false}}'), encode(JSON.stringify(createClaims()))),
      parameter,
    ],
    ['another type', withHeader({ typ: 'at+jwt' }), 'Token validation failed: the type is not JWT'],
    ...['x', '', '../secret', '__proto__', 0, null, ['x'], {}].map(
      (kid): HostileToken => [`key ${JSON.stringify(kid)}`, withHeader({ kid }), unknownKey],
    ),
  ];
};

/** Returns tokens that can be forged without the secret. */
export const listForgedTokens = (): HostileToken[] => {
  const [header = '', claims = '', signature = ''] = signToken(createClaims()).split('.');
  const unsigned = { sign: () => new Uint8Array() };
  return [
    ['none without a signature', signToken(createClaims(), { header: { alg: 'none' }, ...unsigned }), algorithm],
    [
      'HS512, signed so',
      signToken(createClaims(), { header: { alg: 'HS512' }, sign: createHmacSigner(secret, 'sha512') }),
      algorithm,
    ],
    ['RS256, signed with the secret', signToken(createClaims(), { header: { alg: 'RS256' } }), algorithm],
    ['RS256, signed with RSA', signToken(createClaims(), { header: { alg: 'RS256' }, sign: signWithRsa }), algorithm],
    ['HS256, signed with RSA', signToken(createClaims(), { sign: signWithRsa }), mismatch],
    ['another key', signToken(createClaims(), { sign: createHmacSigner('x'.repeat(32)) }), mismatch],
    ['an empty key', signToken(createClaims(), { sign: createHmacSigner('') }), mismatch],
    ['a longer hash', signToken(createClaims(), { sign: createHmacSigner(secret, 'sha512') }), mismatch],
    [
      'the first half of the signature',
      `${header}.${claims}.${encode(Buffer.from(signature, 'base64url').subarray(0, 16))}`,
      mismatch,
    ],
    ['another signature', `${header}.${claims}.${swapLetter(signature)}`, mismatch],
    [
      'claims of another token',
      `${header}.${encode(JSON.stringify(createClaims({ sub: 'root' })))}.${signature}`,
      mismatch,
    ],
    ['header of another token', `${encode('{"typ":"JWT","alg":"HS256"}')}.${claims}.${signature}`, mismatch],
  ];
};

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const signWithRsa = (signed: string): Uint8Array => sign('sha256', Buffer.from(signed), privateKey);

const withHeader = (parameters: object): string =>
  signToken(createClaims(), { header: { alg: 'HS256', typ: 'JWT', ...parameters } });

const swapLetter = (text: string): string => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
