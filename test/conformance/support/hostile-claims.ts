import { createClaims, type HostileToken, signToken } from '../../support/tokens.ts';

/** Returns correctly signed tokens with claims that are rejected. */
export const listTokensWithBadClaims = (): HostileToken[] => {
  const now = Math.floor(Date.now() / 1000);
  const text = JSON.stringify(createClaims());
  const noWholeExp = failed('the claim exp is not a whole number');
  const noWholeNbf = failed('the claim nbf is not a whole number');
  return [
    ['exp 1e999', signToken(text.replace(/"exp":\d+/, '"exp":1e999')), noWholeExp],
    ['exp as text', withClaims({ exp: String(now + 60) }), noWholeExp],
    ['exp with a fraction', withClaims({ exp: now + 60.5 }), noWholeExp],
    ['exp null', withClaims({ exp: null }), noWholeExp],
    ['no exp', withClaims({ exp: undefined }), noWholeExp],
    ['exp past', withClaims({ iat: now - 3660, exp: now - 60 }), 'Token expired'],
    ['exp long past', withClaims({ exp: -1e15 }), 'Token expired'],
    [
      'valid for a second more than an hour',
      withClaims({ iat: now, exp: now + 3601 }),
      failed('the token lifetime is too long'),
    ],
    [
      'iat ahead by more than a minute',
      withClaims({ iat: now + 3600, exp: now + 3700 }),
      failed('the claim iat is in the future'),
    ],
    ['iat as text', withClaims({ iat: String(now) }), failed('the claim iat is not a whole number')],
    ['no iat', withClaims({ iat: undefined }), failed('the claim iat is not a whole number')],
    ['nbf ahead', withClaims({ nbf: now + 1800 }), failed('the token is not valid yet')],
    ['nbf as text', withClaims({ nbf: String(now) }), noWholeNbf],
    ['nbf null', withClaims({ nbf: null }), noWholeNbf],
    ['an audience', withClaims({ aud: 'another service' }), failed('the token is for another audience')],
    ['another issuer', withClaims({ iss: 'another service' }), failed('the claim iss does not match the issuer')],
    ['the issuer in capitals', withClaims({ iss: 'Signalbox' }), failed('the claim iss does not match the issuer')],
    ['an unknown role', withClaims({ role: 'King' }), failed('the claim role is not Admin or Reader')],
    ['no role', withClaims({ role: undefined }), failed('the claim role is not Admin or Reader')],
    ['a list of roles', withClaims({ role: ['Admin'] }), failed('the claim role is not Admin or Reader')],
    ['a list of names', withClaims({ sub: ['admin'] }), failed('the claim sub is not a name')],
    ['no name', withClaims({ sub: '' }), failed('the claim sub is not a name')],
  ];
};

const withClaims = (changes: Record<string, unknown>): string => signToken(createClaims(changes));

const failed = (cause: string): string => `Token validation failed: ${cause}`;
