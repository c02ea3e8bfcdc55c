/** Why a token is refused; the message is the 401's text. */
export class TokenError extends Error {}

/** The error for every cause except the three that have a message of their own. */
export const toFailure = (cause: string): TokenError => new TokenError(`Token validation failed: ${cause}`);

const maximumLength = 4096;
/** Keeps a byte order mark, which is not valid JSON (RFC 8259, 8.1), instead of dropping it. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type JsonObject = Record<string, unknown>;

/** Splits and decodes a token without verifying anything; throws a TokenError. */
export const decodeToken = (token: string): { header: JsonObject; claims: JsonObject } => {
  const [header, claims, signature, ...rest] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined || rest.length > 0) {
    throw new TokenError('Invalid token format');
  }
  if (token.length > maximumLength) throw toFailure(`it is longer than ${maximumLength} characters`);
  decodeBase64Url(signature, 'signature');
  return { header: decodeObject(header, 'header'), claims: decodeObject(claims, 'claims') };
};

const decodeObject = (part: string, name: string): JsonObject => {
  const bytes = decodeBase64Url(part, name);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    throw toFailure(`the ${name} cannot be decoded`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw toFailure(`the ${name} cannot be decoded`);
  }
  return value as JsonObject;
};

/** Strict: padding, other characters and unused trailing bits would give one token several spellings. */
const decodeBase64Url = (part: string, name: string): Buffer => {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw toFailure(`the ${name} cannot be decoded`);
  return bytes;
};
