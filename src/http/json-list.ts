import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Characters gathered before a piece goes out: large enough that one write serves many rows. */
const pieceLength = 64 * 1024;

/**
 * Answers `opening`, the rows joined by commas, and `closing` as JSON. One piece is sent at once; more are
 * streamed as fast as the client reads, so that an answer of any size takes no more memory than a piece.
 */
export const sendJsonList = (
  reply: FastifyReply,
  opening: string,
  rows: Iterable<object>,
  closing: string,
): void => {
  reply.type('application/json; charset=utf-8');
  const pieces = toPieces(opening, rows, closing);
  const first = pieces.next().value ?? '';
  const second = pieces.next();
  if (second.done) {
    reply.send(first);
    return;
  }
  reply.send(
    Readable.from(prepend([first, second.value], pieces), { objectMode: false, highWaterMark: pieceLength }),
  );
};

function* toPieces(opening: string, rows: Iterable<object>, closing: string): Generator<string, undefined> {
  let piece = opening;
  let separator = '';
  for (const row of rows) {
    piece += separator + JSON.stringify(row);
    separator = ',';
    if (piece.length >= pieceLength) {
      yield piece;
      piece = '';
    }
  }
  yield piece + closing;
}

/** Gives way to other requests after each piece: a fast reader would otherwise have the process to itself. */
async function* prepend(first: string[], rest: Iterable<string>): AsyncGenerator<string> {
  yield* first;
  for (const piece of rest) {
    await setImmediate();
    yield piece;
  }
}
