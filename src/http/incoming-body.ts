import type { FastifyRequest } from 'fastify';
import { MiB } from '../lib/units.ts';
import type { createUnpacker } from './content-coding.ts';
import { createFatal, createUnavailable, type HttpError } from './errors.ts';
import type { FairShares, Holder, Share } from './fair-shares.ts';

/** Maximum size in bytes of a body that is not counted. Connections are too few for such bodies to matter. */
const smallBytes = 16 * 1024;

/** Number of bytes kept if only the end of a body matters. They are too few to be counted. */
const endBytes = 16 * 1024;

/**
 * Maximum number of chunks of a body if its chunks are small on average. Each chunk takes about 1 µs of the event loop.
 */
const manyChunks = 4000;
const smallChunkBytes = 32;

/** Milliseconds without progress after which an incomplete body counts as abandoned. */
const patience = 1000;

interface BodyParts {
  request: FastifyRequest;
  /** Divides the memory between addresses. */
  shares: FairShares;
  /** Maximum size in bytes of the body, both as sent and unpacked. */
  limit: number;
  unpack: ReturnType<typeof createUnpacker>;
  /** Content coding of a compressed body. */
  coding: string | undefined;
  /** True if the body may have any size. In that case, only its end is kept. */
  keepsEnd: boolean;
}

/** Reads a body, or only the end of a body of any size. Unpacks a compressed body. */
export class IncomingBody implements Holder {
  readonly #parts: BodyParts;
  readonly #done: (error: HttpError | undefined, bytes: Buffer) => void;
  #held: GrowingBuffer;
  #chunks = 0;
  #isDone = false;
  #share: Share | undefined;
  #arrivedAt = 0;
  /** Aborted if a body is refused while it is being unpacked. */
  #unpacking: AbortController | undefined;

  constructor(parts: BodyParts, done: (error: HttpError | undefined, bytes: Buffer) => void) {
    this.#parts = parts;
    this.#done = done;
    this.#held = new GrowingBuffer(parts.limit);
    const take = parts.keepsEnd ? this.#takeEnd : this.#receive;
    parts.request.raw.on('data', (chunk: Buffer) => take.call(this, chunk)).on('end', () => this.#end());
  }

  lose(): void {
    if (this.activity() === 'abandoned') this.#parts.request.raw.socket.destroy();
    else this.#finish(tooMany());
  }

  activity(): 'abandoned' | 'idle' {
    const { complete } = this.#parts.request.raw;
    return !complete && performance.now() - this.#arrivedAt > patience ? 'abandoned' : 'idle';
  }

  #receive(chunk: Buffer): void {
    // Discards the rest of a refused body.
    if (this.#isDone) return;
    this.#chunks += 1;
    const isFragmented = this.#chunks > manyChunks && this.#held.bytes < this.#chunks * smallChunkBytes;
    if (isFragmented) this.#finish(tooFragmented());
    else this.#take(chunk);
  }

  #takeEnd(chunk: Buffer): void {
    const end = Buffer.concat([this.#held.filled(), chunk.subarray(-endBytes)]).subarray(-endBytes);
    this.#held = new GrowingBuffer(endBytes);
    this.#held.append(end);
  }

  #take(chunk: Buffer): void {
    if (this.#isDone) return;
    const { limit } = this.#parts;
    const total = this.#held.bytes + chunk.length;
    if (total > limit) this.#finish(refuseLength(limit));
    else if (total > smallBytes && !this.#count(chunk.length, total)) this.#finish(tooMany());
    else this.#held.append(chunk);
  }

  #end(): void {
    const { coding, limit, unpack, request } = this.#parts;
    if (this.#isDone) return;
    if (coding === undefined || this.#held.bytes === 0) {
      this.#finish(undefined);
      return;
    }
    const packed = this.#held.filled();
    this.#held = new GrowingBuffer(limit);
    this.#unpacking = new AbortController();
    const { signal } = this.#unpacking;
    const take = (chunk: Buffer): void => this.#take(chunk);
    unpack(packed, { coding, address: request.ip, take, signal }).then(
      () => this.#finish(undefined),
      (error: HttpError) => this.#finish(error),
    );
  }

  #finish(error: HttpError | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#unpacking?.abort(error);
    this.#release();
    const bytes = this.#held.filled();
    this.#held = new GrowingBuffer(0);
    this.#done(error, bytes);
  }

  #release(): void {
    if (this.#share) this.#parts.shares.release(this.#share);
  }

  /** Counts a chunk. If nothing has been counted yet, counts all bytes so far. Returns false if there is no room. */
  #count(chunk: number, total: number): boolean {
    const { shares, request } = this.#parts;
    this.#arrivedAt = performance.now();
    if (this.#share) return shares.grow(this.#share, chunk);
    this.#share = shares.take(request.ip, this, total);
    // The client may leave before the body is complete.
    request.raw.once('close', () => this.#release());
    return this.#share !== undefined;
  }
}

const noBytes = Buffer.alloc(0);

/**
 * Collects chunks in one buffer. A list of one-byte chunks would take about a hundred times as much memory as the body.
 */
class GrowingBuffer {
  readonly #limit: number;
  #held: Buffer = noBytes;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a chunk. Doubles the buffer if there is no room. The first chunk is not copied. */
  append(chunk: Buffer): void {
    const end = this.#bytes + chunk.length;
    if (this.#bytes === 0) {
      this.#held = chunk;
    } else {
      if (end > this.#held.length) {
        const room = Buffer.allocUnsafe(Math.min(Math.max(2 * end, 1024), this.#limit));
        this.#held.copy(room, 0, 0, this.#bytes);
        this.#held = room;
      }
      chunk.copy(this.#held, this.#bytes);
    }
    this.#bytes = end;
  }

  filled(): Buffer {
    return this.#held.subarray(0, this.#bytes);
  }
}

/** Creates the error for a body above the limit. */
export const refuseLength = (limit: number): HttpError =>
  createFatal('too-large', `Request body is larger than ${limit / MiB} MiB`);

const tooFragmented = (): HttpError => createFatal('invalid', 'Request body has too many small chunks');

const tooMany = (): HttpError =>
  createUnavailable('Too many request bodies are arriving; try again in a second', 'unfinished_bodies');
