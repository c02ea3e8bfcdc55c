import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Characters gathered before a piece goes out. */
const pieceLength = 64 * 1024;

/** Rows that are read while they are sent, and the way to let go of what they are read from. */
export interface RowSource<T> {
  count: number;
  records(): AsyncIterable<T>;
  close(): Promise<void>;
}

/**
 * Answers `{count, data}` with what `toRow` makes of each record, and closes the source in the end. One piece is
 * sent whole; more are streamed as fast as the client reads, since the rows may be more than fits into memory.
 */
export const sendRows = async <T>(
  reply: FastifyReply,
  source: RowSource<T>,
  toRow: (record: T) => object,
): Promise<FastifyReply> => {
  const pieces = toPieces(source, toRow);
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

async function* toPieces<T>(
  { count, records, close }: RowSource<T>,
  toRow: (record: T) => object,
): AsyncGenerator<string, undefined> {
  try {
    let piece = `{"count":${count},"data":[`;
    let separator = '';
    for await (const record of records()) {
      piece += separator + JSON.stringify(toRow(record));
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
