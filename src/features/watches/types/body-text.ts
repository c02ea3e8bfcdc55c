import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { createDecoder } from '../../../http/content-coding.ts';

/** Maximum number of bytes read from a body, before and after decompression. */
const maxBodyBytes = 1024 * 1024;

/** Maximum number of content encodings of a body. They are undone one after another. */
const maxEncodings = 3;

/** Number of bytes at the start of a page that browsers search for the charset. */
const metaBytes = 1024;

/** Reads the text in the first MiB of a body, as a browser would show it. Rejects if the body cannot be unpacked. */
export const readBodyText = async (body: Readable, headers: IncomingHttpHeaders): Promise<string> => {
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
  if (encodings.length > maxEncodings) throw new Error('the response is compressed too many times');
  let bytes = await readStart(body);
  for (const encoding of encodings.toReversed()) bytes = await unpack(bytes, encoding);
  return decode(bytes, headers['content-type'] ?? '');
};

const readStart = async (stream: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBodyBytes - bytes));
    bytes += chunk.length;
    if (bytes >= maxBodyBytes) break;
  }
  return Buffer.concat(chunks);
};

/** Unpacks the first MiB. Truncated data is unpacked as far as possible. */
const unpack = async (bytes: Buffer, encoding: string): Promise<Buffer> => {
  if (bytes.length === 0) return bytes;
  const unpacker = createStreamUnpacker(bytes, encoding);
  if (!unpacker) throw new Error(`the response is compressed with ${encoding}, which is not supported`);
  const unpacked: Buffer[] = [];
  let length = 0;
  try {
    const stream = pipeline(Readable.from([bytes]), unpacker, () => undefined);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      unpacked.push(chunk.subarray(0, maxBodyBytes - length));
      length += chunk.length;
      if (length >= maxBodyBytes) break;
    }
  } catch (error) {
    const isCut = bytes.length >= maxBodyBytes && length > 0;
    if (!isCut) throw new Error(`the response cannot be decompressed with ${encoding}: ${(error as Error).message}`);
  }
  return Buffer.concat(unpacked);
};

const createStreamUnpacker = (bytes: Buffer, encoding: string): Transform | undefined =>
  encoding === 'br' ? createBrotliDecompress() : createDecoder(encoding === 'x-gzip' ? 'gzip' : encoding, bytes);

/** Decodes text as browsers do. The byte order mark decides first, then the header, then the page itself. */
const decode = (bytes: Buffer, contentType: string): string => {
  const start = bytes.subarray(0, metaBytes).toString('latin1');
  const declared = [
    findMark(bytes),
    /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1],
    /<meta[^>]+charset\s*=\s*["']?([^\s"'>;/]+)/i.exec(start)?.[1],
    /^\s*<\?xml[^>]+encoding\s*=\s*["']([^"']+)/i.exec(start)?.[1],
  ];
  for (const charset of declared) {
    const decoder = charset === undefined ? undefined : createTextDecoder(charset);
    if (decoder) return decoder.decode(bytes);
  }
  return new TextDecoder().decode(bytes);
};

const findMark = (bytes: Buffer): string | undefined => {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))) return 'utf-8';
  if (bytes.subarray(0, 2).equals(Buffer.from([0xff, 0xfe]))) return 'utf-16le';
  return bytes.subarray(0, 2).equals(Buffer.from([0xfe, 0xff])) ? 'utf-16be' : undefined;
};

const createTextDecoder = (charset: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(charset);
  } catch {
    return undefined;
  }
};
