import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeToken, TokenError } from './decode.ts';

const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
const [header, claims] = [encode('{"alg":"x"}'), encode('{"sub":"\u00e9"}')];

const assertRefused = (token: string, message: string): void => {
  assert.throws(() => decodeToken(token), { constructor: TokenError, message }, token.slice(0, 200));
};

test('decoding returns header and claims without checking the signature', () => {
  const expected = { header: { alg: 'x' }, claims: { sub: '\u00e9' } };
  assert.deepEqual(decodeToken(`${header}.${claims}.AAAA`), expected);
  assert.deepEqual(decodeToken(`${header}.${claims}.`), expected);
});

test('a token that does not have three parts is rejected', () => {
  for (const token of ['', 'a', '.', 'a.b', `${header}.${claims}`, '...', `${header}.${claims}.AAAA.`]) {
    assertRefused(token, 'Invalid token format');
  }
});

test('a token longer than 4,096 characters is rejected', () => {
  const start = `${header}.${claims}.`;
  const longest = start + 'A'.repeat(4096 - start.length);
  assert.ok(decodeToken(longest));
  assertRefused(`${longest}A`, 'Token validation failed: it is longer than 4096 characters');
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
    assertRefused(token, `Token validation failed: the ${part} cannot be decoded`);
  }
});

test('a header or claims that are not a JSON object in UTF-8 are rejected', () => {
  const broken = ['', '{', 'null', '[]', '1', '"x"', 'true', '\ufeff{}', Buffer.from('{"a":"\xff"}', 'latin1')];
  for (const text of broken) {
    assertRefused(`${encode(text)}.${claims}.AAAA`, 'Token validation failed: the header cannot be decoded');
    assertRefused(`${header}.${encode(text)}.AAAA`, 'Token validation failed: the claims cannot be decoded');
  }
});
