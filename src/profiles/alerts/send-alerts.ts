import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Listing } from '../../storage/journal/listing.ts';
import { toAlert } from './alert.ts';

/** Characters gathered before a piece goes out. */
const pieceLength = 64 * 1024;

/**
 * Answers `{count, data}` and closes the listing in the end. One piece is sent whole; more are streamed as fast
 * as the client reads, since ten thousand alerts may be more than fits into memory.
 */
export const sendAlerts = async (reply: FastifyReply, listing: Listing): Promise<FastifyReply> => {
  const pieces = toPieces(listing);
  const first = await pieces.next();
  const second = await pieces.next();
  reply.type('application/json; charset=utf-8');
  if (second.done) {
    return reply.send(first.value);
  }
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: pieceLength });
  stream.unshift(second.value);
  stream.unshift(first.value);
  return reply.send(stream);
};

async function* toPieces({ count, records, close }: Listing): AsyncGenerator<string, undefined> {
  try {
    let piece = `{"count":${count},"data":[`;
    let separator = '';
    for await (const record of records()) {
      piece += separator + JSON.stringify(toAlert(record));
      separator = ',';
      if (piece.length >= pieceLength) {
        yield piece;
        piece = '';
      }
    }
    yield `${piece}]}`;
  } finally {
    await close();
  }
}
