import { createHmac, timingSafeEqual } from 'node:crypto';

/** Lifetime of a link, in seconds. */
const validSeconds = 24 * 60 * 60;

/** Maximum number of incidents per link. The URL must fit into a message. */
const mostIncidents = 16;

/** Prefix that identifies tokens in logs. */
const prefix = 'ack_';

const version = 2;
/** Version of the unsealed tokens that 1.1.0 created. */
const unsealedVersion = 1;
const idBytes = 16;
const signatureBytes = 16;
const sealBytes = 8;
/**
 * Bytes before the seal: the version, the expiry in Unix seconds, and the length of the destination's name. After the
 * seal come the name and the incident ids.
 */
const headBytes = 6;

/**
 * Identity of a destination in its links. Links become invalid if the destination is replaced or its address changes.
 */
export interface LinkedDestination {
  name: string;
  type: string;
  url: string;
  /** Time at which the runtime setting was created, in Unix milliseconds. Undefined for the config file. */
  createdAt: number | undefined;
}

/** Incidents that the holder of a link may acknowledge on behalf of a destination. */
export interface AcknowledgeGrant {
  destination: string;
  ids: readonly string[];
}

/**
 * Content of a token. `incomplete`: part of the token is missing. `forged`: the token was altered, or signed with an
 * unknown key.
 */
type ReadGrant = AcknowledgeGrant | 'incomplete' | 'forged' | 'expired' | 'removed';

export type AcknowledgeLinks = ReturnType<typeof createAcknowledgeLinks>;

/**
 * Creates and reads the tokens of links. The first key signs new tokens. Tokens signed with any of the keys are valid.
 * `find` returns the current destination with a name.
 */
export const createAcknowledgeLinks = (
  keys: readonly [Buffer, ...Buffer[]],
  clock: () => Date,
  find: (name: string) => LinkedDestination | undefined,
) => ({
  /** Creates a token. Undefined if there are too many incidents. */
  createToken: (destination: LinkedDestination, ids: readonly string[]): string | undefined => {
    if (ids.length === 0 || ids.length > mostIncidents) return undefined;
    const name = Buffer.from(destination.name);
    const head = Buffer.alloc(headBytes);
    head.writeUInt8(version);
    head.writeUInt32BE(toSeconds(clock().getTime()) + validSeconds, 1);
    head.writeUInt8(name.length, 5);
    const parts = [head, toSeal(destination, keys[0]), name, ...ids.map(toBytes)];
    const content = Buffer.concat(parts);
    return prefix + Buffer.concat([content, sign(content, keys[0])]).toString('base64url');
  },
  readToken: (token: string): ReadGrant => {
    const bytes = Buffer.from(token.slice(prefix.length), 'base64url');
    const isSealed = bytes[0] === version;
    const nameStart = headBytes + (isSealed ? sealBytes : 0);
    const nameEnd = nameStart + (bytes[5] ?? 0);
    const idsLength = bytes.length - nameEnd - signatureBytes;
    // Base64 can encode the same bytes in several ways. Only the canonical encoding is valid.
    const isWhole = token === prefix + bytes.toString('base64url') && idsLength > 0 && idsLength % idBytes === 0;
    if (!isWhole || !(isSealed || bytes[0] === unsealedVersion)) return 'incomplete';
    const content = bytes.subarray(0, -signatureBytes);
    const signature = bytes.subarray(-signatureBytes);
    const key = keys.find((one) => timingSafeEqual(sign(content, one), signature));
    if (!key) return 'forged';
    const end = bytes.readUInt32BE(1);
    if (end <= toSeconds(clock().getTime())) return 'expired';
    const name = bytes.toString('utf8', nameStart, nameEnd);
    const destination = find(name);
    if (!destination) return 'removed';
    const isSame = isSealed
      ? toSeal(destination, key).equals(bytes.subarray(headBytes, nameStart))
      : toSeconds(destination.createdAt ?? 0) <= end - validSeconds;
    if (!isSame) return 'removed';
    const ids = Array.from({ length: idsLength / idBytes }, (_, index) => toId(content, nameEnd + index * idBytes));
    return { destination: name, ids };
  },
});

/**
 * Returns the seal that binds a token to its destination. The seal is a signature and not a hash, because the URL can
 * be a secret.
 */
const toSeal = ({ type, url, createdAt }: LinkedDestination, key: Buffer): Buffer =>
  sign(Buffer.from(JSON.stringify(['destination', type, url, createdAt ?? null])), key).subarray(0, sealBytes);

const sign = (content: Buffer, key: Buffer): Buffer =>
  createHmac('sha256', key).update(content).digest().subarray(0, signatureBytes);

const toBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

const toId = (bytes: Buffer, at: number): string =>
  bytes.toString('hex', at, at + idBytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const toSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
