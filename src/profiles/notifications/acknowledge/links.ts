import { createHmac, timingSafeEqual } from 'node:crypto';

/** How long a link is valid. */
const validSeconds = 24 * 60 * 60;

/** The most incidents of one link: its address must fit into a message. */
const mostIncidents = 16;

/** Begins every token, so that it is recognized in logs. */
const prefix = 'ack_';

const version = 1;
const idBytes = 16;
const signatureBytes = 16;
/** Version, end in Unix seconds, and the length of the destination's name. */
const headBytes = 6;

/** What the holder of a link may do: acknowledge these incidents, through a destination. */
export interface AcknowledgeGrant {
  destination: string;
  ids: readonly string[];
}

/** `incomplete`: the text is no whole token. `forged`: another key has signed it, or it was changed. */
type ReadGrant = AcknowledgeGrant | 'incomplete' | 'forged' | 'expired';

export type AcknowledgeLinks = ReturnType<typeof createAcknowledgeLinks>;

/** Makes and reads the tokens of links; signatures of any key are valid, and the first one signs. */
export const createAcknowledgeLinks = (keys: readonly [Buffer, ...Buffer[]], clock: () => Date) => ({
  /** Undefined for more incidents than a link can name. */
  createToken: ({ destination, ids }: AcknowledgeGrant): string | undefined => {
    if (ids.length === 0 || ids.length > mostIncidents) return undefined;
    const name = Buffer.from(destination);
    const head = Buffer.alloc(headBytes);
    head.writeUInt8(version);
    head.writeUInt32BE(toSeconds(clock()) + validSeconds, 1);
    head.writeUInt8(name.length, 5);
    const content = Buffer.concat([head, name, ...ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'))]);
    return prefix + Buffer.concat([content, sign(content, keys[0])]).toString('base64url');
  },
  readToken: (token: string): ReadGrant => {
    const bytes = Buffer.from(token.slice(prefix.length), 'base64url');
    const nameEnd = headBytes + (bytes[5] ?? 0);
    const idsLength = bytes.length - nameEnd - signatureBytes;
    // Another spelling of the same bytes is not the token that was sent.
    const isWhole = token === prefix + bytes.toString('base64url') && idsLength > 0 && idsLength % idBytes === 0;
    if (!isWhole || bytes[0] !== version) return 'incomplete';
    const content = bytes.subarray(0, -signatureBytes);
    const signature = bytes.subarray(-signatureBytes);
    if (!keys.some((key) => timingSafeEqual(sign(content, key), signature))) return 'forged';
    if (bytes.readUInt32BE(1) <= toSeconds(clock())) return 'expired';
    const ids = Array.from({ length: idsLength / idBytes }, (_, index) => toId(content, nameEnd + index * idBytes));
    return { destination: bytes.toString('utf8', headBytes, nameEnd), ids };
  },
});

const sign = (content: Buffer, key: Buffer): Buffer =>
  createHmac('sha256', key).update(content).digest().subarray(0, signatureBytes);

const toId = (bytes: Buffer, at: number): string =>
  bytes.toString('hex', at, at + idBytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);
