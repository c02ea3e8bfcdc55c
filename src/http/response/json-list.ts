import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Characters gathered before a piece goes out: large enough that one write serves many rows. */
const pieceLength = 64 * 1024;

/**
 * Answers JSON text: the first piece alone at once; where there is a rest, all of it as fast as the client reads, so
 * that an answer of any size takes no more memory than a piece.
 */
export const sendJson = (reply: FastifyReply, first: string, rest?: Iterable<string>): void => {
  reply.type('application/json; charset=utf-8');
  if (rest === undefined) {
    reply.send(first);
    return;
  }
  // Nobody reads the body of an answer to HEAD.
  const pieces = reply.request.method === 'HEAD' ? [] : givingWay(first, rest);
  reply.send(Readable.from(pieces, { objectMode: false, highWaterMark: pieceLength }));
};

/** Answers `opening`, the rows joined by commas, and `closing` as JSON, however many rows there are. */
export const sendJsonList = (
  reply: FastifyReply,
  opening: string,
  rows: Iterable<object>,
  closing: string,
): void => {
  const pieces = toPieces(opening, rows, closing);
  const first = pieces.next().value ?? '';
  const second = pieces.next();
  sendJson(reply, first, second.done ? undefined : prepend(second.value, pieces));
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

function* prepend(first: string, rest: Iterable<string>): Generator<string> {
  yield first;
  yield* rest;
}

/** Gives way to other requests after each piece: a fast reader would otherwise have the process to itself. */
async function* givingWay(first: string, rest: Iterable<string>): AsyncGenerator<string> {
  yield first;
  for (const piece of rest) {
    await setImmediate();
    yield piece;
  }
}
