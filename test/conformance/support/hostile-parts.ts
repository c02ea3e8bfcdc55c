import { createClaims, encode, type HostileToken, signParts, signToken } from '../../support/tokens.ts';

const format = 'Invalid token format';
const decoding = /^Token validation failed: the (header|claims|signature) cannot be decoded$/;

/** Returns misspelt tokens. */
export const listMisspeltTokens = (): HostileToken[] => {
  const { good, header, claims, signature } = createParts();
  return [
    ['one part', 'token', format],
    ['two parts', `${header}.${claims}`, format],
    ['four parts', `${good}.x`, format],
    ['five parts, as an encrypted token has', `${good}.x.y`, format],
    ['empty parts', '..', decoding],
    ['no signature', `${header}.${claims}.`, 'Token validation failed: the signature does not match'],
    ['no header', `.${claims}.${signature}`, decoding],
    ['no claims', `${header}..${signature}`, decoding],
    ['padding', `${good}=`, decoding],
    ['plain base64 letters', `${header}.${claims}.+/${signature.slice(2)}`, decoding],
    ['a percent sign', `${header}.${claims}.%2b${signature.slice(3)}`, decoding],
    ['a blank within', `${header}.${claims}. ${signature}`, decoding],
    ['a tab within', `${header}.\t${claims}.${signature}`, decoding],
    ['two letters too many', `${good}AA`, decoding],
    ['unused bits of the signature set', `${good.slice(0, -1)}${nextLetter(good.slice(-1))}`, decoding],
    [
      'more than 4 KiB',
      signToken(createClaims({ more: 'x'.repeat(4000) })),
      'Token validation failed: the token is longer than 4096 characters',
    ],
  ];
};

/** Returns correctly signed tokens with parts that are not JSON objects. */
export const listUndecodableTokens = (): HostileToken[] => {
  const { header, claims } = createParts();
  const texts = ['null', '[]', '[{"alg":"HS256"}]', '"text"', '1', 'true', '', '{', '{"a":1}x', "{'a':1}"];
  const rows = texts.flatMap((text): HostileToken[] => [
    [`claims ${text}`, signParts(header, encode(text)), decoding],
    [`header ${text}`, signParts(encode(text), claims), decoding],
  ]);
  const broken = encode(new Uint8Array([0x7b, 0xff, 0x7d]));
  return [
    ...rows,
    ['claims that are no UTF-8', signParts(header, broken), decoding],
    ['a header that is not UTF-8', signParts(broken, claims), decoding],
    ['a byte order mark', signParts(header, encode(`\uFEFF${JSON.stringify(createClaims())}`)), decoding],
  ];
};

const createParts = () => {
  const good = signToken(createClaims());
  const [header = '', claims = '', signature = ''] = good.split('.');
  return { good, header, claims, signature };
};

/**
 * Returns the next letter of the base64url alphabet. The two letters differ only in the last bit. That bit is unused.
 */
const nextLetter = (letter: string): string => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return letters[letters.indexOf(letter) ^ 1] ?? '';
};
