import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A text that any number of clients get: compressed once, and not sent again to a client that has it. The content may
 * be gzipped already; nearly all clients take it as it is.
 */
export class StaticText {
  readonly content: Buffer;
  readonly #hash: string;
  #plain: Buffer | undefined;
  #gzipped: Buffer | undefined;

  constructor(content: Buffer, isGzipped = false) {
    this.content = content;
    if (isGzipped) this.#gzipped = content;
    else this.#plain = content;
    this.#hash = createHash('sha256').update(content).digest('base64url');
  }

  /** Sends the text with the reply's type and status. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const isGzip = acceptsGzip(request.headers['accept-encoding']);
    const tag = isGzip ? `"${this.#hash}-gzip"` : `"${this.#hash}"`;
    reply.headers({ ETag: tag, Vary: 'Accept-Encoding' });
    if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send();
    if (!isGzip) {
      this.#plain ??= gunzipSync(this.content);
      return reply.send(this.#plain);
    }
    this.#gzipped ??= gzipSync(this.content, { level: 9 });
    return reply.header('Content-Encoding', 'gzip').send(this.#gzipped);
  }
}

/** Whether Accept-Encoding names gzip, and not with the weight 0 (RFC 9110, 12.5.3). */
const acceptsGzip = (accepted = ''): boolean =>
  accepted.split(',').some((each) => /^\s*gzip\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(each));
