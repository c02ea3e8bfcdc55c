import { isUtf8 } from 'node:buffer';
import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { ExpectedError, StoreUnavailable } from '../lib/expected-errors.ts';
import { isObject, parseJson } from '../lib/parse-json.ts';

export const roles = ['Admin', 'Reader'] as const;
export type Role = (typeof roles)[number];

/** User identified by a valid token. */
export interface Principal {
  name: string;
  role: Role;
  issuer: string;
}

/** Seconds for which a token is valid. */
export const tokenLifetime = 3600 as const;

/** Maximum seconds between two logins: 30 days. Renewing a session does not extend them. */
export const longestSession = 30 * 24 * 3600;

/** Seconds by which the signer's clock may be ahead of this clock. */
const clockTolerance = 60;

const maximumLength = 4096;

/** Maximum number of tokens in the cache of verified signatures. Clients send the same token with every request. */
const maxVerified = 200;

/** Reason why a token is refused. The message is the text of the 401. */
export class TokenError extends ExpectedError {}

/** Error for accounts and revocations that cannot be read, so that no token can be checked. */
export class AccountsUnknown extends StoreUnavailable {
  constructor() {
    super('Accounts cannot be read at the moment; try again later');
  }
}

/** Creates the error for any cause that has no specific message. */
const toFailure = (cause: string): TokenError => new TokenError(`Token validation failed: ${cause}`);

/** Signing keys of tokens. A KeyObject, unlike text, is never printed. */
interface TokenSecrets {
  /** Key that signs new tokens. */
  current: KeyObject;
  /** Id of the current key in new tokens. Undefined if there is only one key. */
  currentId: string | undefined;
  /** Keys whose tokens are accepted, by id. */
  byId: ReadonlyMap<string, KeyObject>;
}

/**
 * Creates keys from secrets of at least 32 bytes (RFC 7518, 3.2). The current key signs. The previous key, if any, is
 * still accepted.
 */
export const createTokenSecrets = (current: Uint8Array, previous?: Uint8Array): TokenSecrets => {
  const secrets = previous ? [current, previous] : [current];
  return {
    current: createSecretKey(current),
    currentId: previous && toKeyId(current),
    byId: new Map(secrets.map((secret) => [toKeyId(secret), createSecretKey(secret)])),
  };
};

/**
 * Returns the `kid` of a secret. It is the same in every process. As a MAC, it reveals no more about the secret than a
 * token does.
 */
const toKeyId = (secret: Uint8Array): string =>
  createHmac('sha256', secret).update('signalbox key id').digest('base64url').slice(0, 11);

/** Session. It begins with a login and continues with each token that replaces an earlier one. */
export interface Session {
  id: string;
  /** Unix second of the login. */
  since: number;
}

/**
 * Facts about a user name that are checked at every use of its tokens. A revocation changes the generation. The
 * generation does not depend on times, because clocks can be wrong.
 */
export interface TokenGrant {
  /** Role that tokens must name. Undefined for a deleted account. */
  role: Role | undefined;
  /**
   * Generation that tokens must name. Undefined until the first revocation, because the API specifies the claims of a
   * token.
   */
  generation: string | undefined;
  /** Unix second up to which tokens are refused. Used only for a name that never had an account. */
  notBefore: number;
}

/**
 * Returns the grant of a name. Undefined if the name never had an account here. Throws AccountsUnknown if the accounts
 * cannot be read.
 */
export type FindGrant = (name: string) => TokenGrant | undefined;

export interface Tokens {
  /**
   * Signs a token for the user, valid for `tokenLifetime` seconds from now. With `session`, the token continues that
   * session.
   */
  sign(user: { name: string; role: Role }, session?: Session): string;
  /** Returns the user that a token identifies. Throws a TokenError whose message is the text of the 401. */
  verify(token: string): Principal;
}

/** Returns the Unix second of a date. */
export const toSecond = (date: Date): number => Math.floor(date.getTime() / 1000);

/**
 * Signs HS256 tokens (RFC 7519) with the current key, and verifies tokens signed with any key. Without grants, every
 * signed and valid token is accepted.
 */
export const createTokens = (
  keys: TokenSecrets,
  issuer: string,
  clock: () => Date,
  findGrant: FindGrant = () => undefined,
): Tokens => {
  const now = () => toSecond(clock());
  const verified = new Map<string, JsonObject>();
  /** Returns the claims of a token signed by a known key. */
  const verifySignature = (token: string): JsonObject => {
    const { header: given, claims } = decodeToken(token);
    assertNotExpired(claims, now());
    assertHeader(given);
    assertSignature(token, findKeys(keys, given['kid']));
    if (verified.size === maxVerified) verified.clear();
    verified.set(token, claims);
    return claims;
  };
  const header = encode({ alg: 'HS256', typ: 'JWT', ...(keys.currentId && { kid: keys.currentId }) });
  return {
    sign: ({ name, role }, session) => {
      const iat = now();
      const generation = findGrant(name)?.generation;
      const claims = {
        sub: name,
        role,
        iss: issuer,
        iat,
        exp: iat + tokenLifetime,
        ...(generation !== undefined && { [generationClaim]: generation }),
        ...(session && { sid: session.id, auth_time: session.since }),
      };
      const signed = `${header}.${encode(claims)}`;
      return `${signed}.${toSignature(signed, keys.current).toString('base64url')}`;
    },
    // The order of the checks decides which error is reported for a token with several faults.
    verify: (token) => {
      const claims = verified.get(token) ?? verifySignature(token);
      assertNotExpired(claims, now());
      const principal = toPrincipal(claims, issuer, now());
      assertGranted(claims, principal.role, findGrant(principal.name));
      return principal;
    },
  };
};

/** Claim for the generation that the account had when the token was issued. */
const generationClaim = 'account_generation';

/** Error for a revoked token. `isAhead` is set if the token is newer than the accounts known to this process. */
export class RevokedToken extends TokenError {
  readonly isAhead: boolean;

  constructor(isAhead: boolean) {
    super(toFailure('the user has been removed or changed').message);
    this.isAhead = isAhead;
  }
}

const assertGranted = (claims: JsonObject, role: Role, grant: TokenGrant | undefined): void => {
  if (!grant) return;
  const generation = claims[generationClaim];
  const isGranted =
    grant.role === undefined
      ? toBeginning(claims) > grant.notBefore
      : role === grant.role && generation === grant.generation;
  if (!isGranted) throw new RevokedToken(toOrder(generation) > toOrder(grant.generation));
};

/**
 * Formats a generation as text. `origin` distinguishes accounts that had the same name. `order` increases with each
 * change.
 */
export const toGeneration = (origin: string, order: number, mark: string): string => `${origin}${order}.${mark}`;

const toOrder = (generation: unknown): number => Number(/^[a-z](\d+)\./.exec(String(generation))?.[1] ?? 0);

/**
 * Returns the session of a valid token. The API specifies the claims of a login token and leaves no room for a session,
 * so the hash of the token serves as the session id.
 */
export const readSession = (token: string): Session => {
  const { claims } = decodeToken(token);
  return (
    toGoingOn(claims) ?? {
      id: createHash('sha256').update(token).digest('base64url').slice(0, 22),
      since: Number(claims['iat']),
    }
  );
};

type JsonObject = Record<string, unknown>;

/** Returns the session that a renewed token names. */
const toGoingOn = ({ sid, auth_time: since, iat }: JsonObject): Session | undefined =>
  // Other programs may use `sid` differently. A login cannot be before 1970. Except for the clock tolerance, it cannot
  // be later than its token.
  typeof sid === 'string' && isTime(since) && since <= Number(iat) + clockTolerance ? { id: sid, since } : undefined;

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Returns the Unix second of the login with which the token's session began. */
const toBeginning = (claims: JsonObject): number =>
  Math.min(Number(claims['iat']), toGoingOn(claims)?.since ?? Number.POSITIVE_INFINITY);

const encode = (part: JsonObject): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Splits and decodes a token without verifying it. Throws a TokenError if the token is malformed. */
export const decodeToken = (token: string): { header: JsonObject; claims: JsonObject } => {
  const [header, claims, signature, ...rest] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined || rest.length > 0) {
    throw new TokenError('Invalid token format');
  }
  if (token.length > maximumLength) throw toFailure(`the token is longer than ${maximumLength} characters`);
  decodeBase64Url(signature, 'signature');
  return { header: decodeObject(header, 'header'), claims: decodeObject(claims, 'claims') };
};

const decodeObject = (part: string, name: string): JsonObject => {
  const bytes = decodeBase64Url(part, name);
  const value = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined;
  if (!isObject(value)) throw toFailure(`the ${name} cannot be decoded`);
  return value;
};

/**
 * Decodes base64url strictly. If padding, other characters or unused trailing bits were accepted, a token would have
 * several spellings.
 */
const decodeBase64Url = (part: string, name: string): Buffer => {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw toFailure(`the ${name} cannot be decoded`);
  return bytes;
};

/**
 * Accepted header parameters. No others are accepted, because `crit`, `b64`, `jwk`, `jku` and others change the meaning
 * of a signature.
 */
const knownParameters = new Set(['alg', 'typ', 'kid']);

export const assertHeader = (header: JsonObject): void => {
  if (header['alg'] !== 'HS256') throw toFailure('the algorithm is not HS256');
  const unknown = Object.keys(header).find((name) => !knownParameters.has(name));
  if (unknown !== undefined) throw toFailure('the header has an unsupported parameter');
  if (header['typ'] !== undefined && header['typ'] !== 'JWT') throw toFailure('the type is not JWT');
};

/** Returns the keys that may have signed a token: the key that the token names, or all keys if it names none. */
const findKeys = ({ byId }: TokenSecrets, id: unknown): KeyObject[] => {
  if (id === undefined) return [...byId.values()];
  const key = typeof id === 'string' && byId.get(id);
  if (!key) throw toFailure('the key id is unknown');
  return [key];
};

const toSignature = (signed: string, key: KeyObject): Buffer => createHmac('sha256', key).update(signed).digest();

const assertSignature = (token: string, keys: readonly KeyObject[]): void => {
  const end = token.lastIndexOf('.');
  const given = Buffer.from(token.slice(end + 1), 'base64url');
  const isSigned = keys.some((key) => {
    const signature = toSignature(token.slice(0, end), key);
    return signature.length === given.length && timingSafeEqual(signature, given);
  });
  if (!isSigned) throw toFailure('the signature does not match');
};

export const assertNotExpired = ({ exp }: JsonObject, now: number): void => {
  if (!Number.isSafeInteger(exp)) throw toFailure('the claim exp is not a whole number');
  if ((exp as number) < now) throw new TokenError('Token expired');
};

/** Returns the user identified by a token with a valid signature. Throws a TokenError for invalid claims. */
export const toPrincipal = (claims: JsonObject, issuer: string, now: number): Principal => {
  const { sub, role, iss, iat, exp, nbf, aud } = claims;
  if (typeof sub !== 'string' || sub === '') throw toFailure('the claim sub is not a name');
  if (!roles.includes(role as Role)) throw toFailure('the claim role is not Admin or Reader');
  if (iss !== issuer) throw toFailure('the claim iss does not match the issuer');
  if (!Number.isSafeInteger(iat)) throw toFailure('the claim iat is not a whole number');
  if ((iat as number) > now + clockTolerance) throw toFailure('the claim iat is in the future');
  if ((exp as number) - (iat as number) > tokenLifetime) throw toFailure('the token lifetime is too long');
  if (nbf !== undefined) assertBegun(nbf, now);
  // RFC 7519, 4.1.3: a token for another audience must be refused, and signalbox has no audience name.
  if (aud !== undefined) throw toFailure('the token is for another audience');
  return { name: sub, role: role as Role, issuer };
};

const assertBegun = (nbf: unknown, now: number): void => {
  if (!Number.isSafeInteger(nbf)) throw toFailure('the claim nbf is not a whole number');
  if ((nbf as number) > now + clockTolerance) throw toFailure('the token is not valid yet');
};
