import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { HttpError } from './errors.ts';
import { createQueue, type QueuedTask } from './overload.ts';

/** Maximum number of bytes that a decoder returns per call. */
const chunkSize = 64 * 1024;

/** Largest zstd window. A sender may not require more than 8 MB (RFC 9659). */
const zstdWindowLog = 23;

/** Maximum number of bodies that are decompressed at the same time. A zstd decoder can take 8 MiB. */
const maxDecoders = 4;

type CreateDecoder = (packed: Buffer) => Transform;

/** Decoder for zstd, available since Node.js 22.15. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: object) => Transform };

/**
 * True if the bytes begin with a zlib header (RFC 1950, 2.2). Some senders omit it, although RFC 9110, 8.4.1.2,
 * requires it.
 */
const hasZlibHeader = (packed: Buffer): boolean =>
  packed.length > 1 && packed.readUInt16BE(0) % 31 === 0 && (packed.readUInt8(0) & 0x0f) === 8;

const decoders: Readonly<Record<string, CreateDecoder>> = {
  gzip: () => zlib.createGunzip({ chunkSize }),
  deflate: (packed) =>
    hasZlibHeader(packed) ? zlib.createInflate({ chunkSize }) : zlib.createInflateRaw({ chunkSize }),
  ...(createZstdDecompress && {
    // Numeric value of ZSTD_d_windowLogMax in zstd's own interface.
    zstd: () => createZstdDecompress({ chunkSize, params: { 100: zstdWindowLog } }),
  }),
};

/** Creates the decoder for bytes with a content coding. Undefined for an unknown coding. */
export const createDecoder = (coding: string, packed: Buffer): Transform | undefined =>
  Object.hasOwn(decoders, coding) ? decoders[coding]?.(packed) : undefined;

/** Content codings that the server can decode. */
export const knownCodings = Object.keys(decoders).join(', ');

/** Returns the content coding of a request body. Undefined without a coding. An HttpError for an unknown coding. */
export const findCoding = (header: string | undefined): string | HttpError | undefined => {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (codings.length === 0) return undefined;
  // RFC 9110, 8.4.1.3: x-gzip is a former name of gzip.
  const [coding = ''] = codings.map((name) => (name === 'x-gzip' ? 'gzip' : name));
  if (codings.length === 1 && Object.hasOwn(decoders, coding)) return coding;
  // RFC 9110, 15.5.16: Accept-Encoding shows the client that the coding is the reason.
  return new HttpError('unsupported-media-type', `Content-Encoding must be one of ${knownCodings}, or absent`, {
    headers: { 'accept-encoding': knownCodings },
  });
};

interface Unpacking {
  coding: string;
  /** Address of the client. Clients with different addresses take turns. */
  address: string;
  /** Receives the unpacked bytes in pieces. */
  take(chunk: Buffer): void;
  /** Aborted when nobody needs the remaining bytes any more. */
  signal: AbortSignal;
}

const createDecoderQueue = () => {
  let last: string | undefined;
  return createQueue<string>({
    running: maxDecoders,
    // Waiting bodies are already counted as bodies, or are small and no more numerous than the connections.
    waiting: Number.POSITIVE_INFINITY,
    refusal: '',
    chooseNext: (line) => (line.find(({ about }) => about !== last) ?? line[0]) as QueuedTask<string>,
    noteStart: (address) => {
      last = address;
    },
  });
};

/** Creates a function that unpacks bodies, a few at a time. It rejects with an HttpError (400) for damaged bytes. */
export const createUnpacker = () => {
  const queue = createDecoderQueue();
  return (packed: Buffer, { coding, address, take, signal }: Unpacking): Promise<void> =>
    queue.run(() => decode(packed, coding, take, signal), signal, address);
};

const decode = (packed: Buffer, coding: string, take: (chunk: Buffer) => void, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const decoder = createDecoder(coding, packed) as Transform;
    const stop = (): void => {
      decoder.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    decoder.on('data', take).on('error', () => reject(damaged(coding)));
    decoder.on('end', resolve).on('close', () => signal.removeEventListener('abort', stop));
    decoder.end(packed);
  });

const damaged = (coding: string): HttpError => new HttpError('invalid', `Request body is not valid ${coding}`);
