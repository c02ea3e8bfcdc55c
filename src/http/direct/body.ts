import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/** Bodies of so many bytes at most, of known length, are read here. */
const longest = 64 * 1024;

export const isShort = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? Number.NaN) <= longest;

/** Reads the whole body, and calls `done` unless the client goes away before. */
export const readBody = (request: IncomingMessage, done: (body: Buffer) => void): void => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
};

/** Lets Fastify read a body that has been read already: call it before routes are added. */
export const createReplays = (app: FastifyInstance): WeakMap<IncomingMessage, Buffer> => {
  const bodies = new WeakMap<IncomingMessage, Buffer>();
  app.addHook('preParsing', ({ raw }, _reply, payload, done) => {
    const body = bodies.get(raw);
    done(null, body ? Readable.from([body]) : payload);
  });
  return bodies;
};
