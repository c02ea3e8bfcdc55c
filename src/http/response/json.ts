import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { largeLength, unreadResponseBytes } from '../connection/limits.ts';
import { createUnavailable } from './errors.ts';

/** Where a value keeps its own JSON text: sent as it is, not made again. For rows: theirs, joined by commas. */
export const ownJson = Symbol('own JSON');

type WithOwnJson = { readonly [ownJson]: string };

/** Rows of a list, of which as many come at once as fit into a piece. */
export type Rows<T extends object = object> = Iterable<T>;
export type Pieces<T extends object = object> = Iterable<Rows<T>> | AsyncIterable<Rows<T>>;

/** A JSON document with a list in it: the text before the rows, the rows, and the text behind them. */
export interface JsonList {
  opening: string;
  pieces: Pieces;
  closing: string;
}

/** Fastify decorator of the app: what is known of all responses. */
export const responses = 'responses';

/** Lists that are being sent in pieces, and bytes that wait for their readers. */
type Responses = { lists: number; countUnread(): number };

const type = 'application/json; charset=utf-8';

/** Hands a value to `send`, which answers with it: at once, or when its promise is kept. For handlers to return. */
export const whenReady = <T>(
  reply: FastifyReply,
  value: T | Promise<T>,
  send: (value: T) => Promise<void> | void,
): Promise<void> | void => {
  if (!(value instanceof Promise)) return send(value);
  return value.then(send).then(() => waitFor(reply));
};

/** What Fastify wants from a handler that has sent its response itself, and may still be sending. */
const waitFor = (reply: FastifyReply): void => reply as unknown as undefined;

/** Sends a value as JSON, with the status that is set. */
export const sendJson = (reply: FastifyReply, value: object): void => sendText(reply, toJson(value));

/**
 * Sends a list as JSON. One piece is sent whole; more are sent as fast as the client reads, so a list of any length
 * takes no more memory than a piece.
 */
export const sendList = (reply: FastifyReply, list: JsonList): Promise<void> | void => {
  const { pieces } = list;
  if (!(Symbol.iterator in pieces)) return sendAsyncList(reply, list, pieces[Symbol.asyncIterator]());
  const iterator = pieces[Symbol.iterator]();
  const first = iterator.next();
  sendFrom(reply, list, first, first.done ? first : iterator.next(), iterator);
};

const sendAsyncList = async (reply: FastifyReply, list: JsonList, iterator: AsyncIterator<Rows>): Promise<void> => {
  const first = await iterator.next();
  sendFrom(reply, list, first, first.done ? first : await iterator.next(), iterator);
  return waitFor(reply);
};

type Source = Iterator<Rows> | AsyncIterator<Rows>;

const sendFrom = (
  reply: FastifyReply,
  { opening, closing }: JsonList,
  first: IteratorResult<Rows>,
  second: IteratorResult<Rows>,
  source: Source,
): void => {
  if (first.done || second.done) {
    if (first.done) sendText(reply, opening + closing);
    else sendOnePiece(reply, opening, first.value, closing);
    return;
  }
  const all = assertRoom(reply, source);
  // Nobody reads the body of a response to HEAD.
  const texts = reply.request.method === 'HEAD' ? [] : streamTexts(opening, [first, second], source, closing);
  const stream = Readable.from(texts, { objectMode: false, highWaterMark: largeLength });
  all.lists += 1;
  stream.once('close', () => {
    all.lists -= 1;
    void source.return?.();
  });
  reply.type(type).send(stream);
};

/** Responses of lists that a store may hand out again: as text once, then as bytes, which are not copied for each. */
const recent = new WeakMap<Rows, { opening: string; closing: string; bytes?: Buffer }>();

const sendOnePiece = (reply: FastifyReply, opening: string, rows: Rows, closing: string): void => {
  const known = recent.get(rows);
  if (known?.opening !== opening || known.closing !== closing) {
    recent.set(rows, { opening, closing });
    sendText(reply, opening + toRowsJson(rows) + closing);
    return;
  }
  known.bytes ??= Buffer.from(opening + toRowsJson(rows) + closing);
  sendText(reply, known.bytes);
};

/** Lists that wait to make their next piece. */
const waiting: (() => void)[] = [];

/** Pieces that are made before other requests have their turn. */
const piecesAtOnce = 4;

const continueWaiting = (): void => {
  for (const begin of waiting.splice(0, piecesAtOnce)) begin();
  if (waiting.length > 0) setImmediate(continueWaiting);
};

/** Gives way to other requests before each piece: lists would otherwise have the process to themselves. */
const waitForTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueWaiting);
  });

async function* streamTexts(
  start: string,
  [first, second]: [IteratorYieldResult<Rows>, IteratorYieldResult<Rows>],
  source: Source,
  end: string,
): AsyncGenerator<string> {
  await waitForTurn();
  yield start + toRowsJson(first.value);
  for (let next: IteratorResult<Rows> = second; !next.done; next = await source.next()) {
    await waitForTurn();
    yield `,${toRowsJson(next.value)}`;
  }
  yield end;
}

const sendText = (reply: FastifyReply, text: string | Buffer): void => {
  if (text.length >= largeLength && reply.request.method === 'GET') assertRoom(reply);
  reply.type(type).send(text);
};

/** Throws a 503 where too many bytes wait for clients that do not read. */
const assertRoom = (reply: FastifyReply, source?: Source): Responses => {
  const all = reply.server.getDecorator<Responses>(responses);
  if (all.countUnread() <= unreadResponseBytes) return all;
  void source?.return?.();
  throw createUnavailable('Too many responses wait for their readers; try again in a second');
};

const toJson = (value: object): string => (value as Partial<WithOwnJson>)[ownJson] ?? JSON.stringify(value);

const toRowsJson = (rows: Rows): string =>
  (rows as Partial<WithOwnJson>)[ownJson] ?? Array.from(rows, toJson).join(',');

/** Rows that are read while they are sent, and the way to let go of what they are read from. */
export interface RowSource<T> {
  count: number;
  records(): AsyncIterable<T>;
  close(): Promise<void>;
}

/** Sends `{count, data}` with what `toRow` makes of each record, and closes the source in the end. */
export const sendRows = <T>(
  reply: FastifyReply,
  source: RowSource<T>,
  toRow: (record: T) => object,
): Promise<void> | void =>
  sendList(reply, { opening: `{"count":${source.count},"data":[`, pieces: toPieces(source, toRow), closing: ']}' });

/** As many records in a piece as make about one write. */
async function* toPieces<T>(source: RowSource<T>, toRow: (record: T) => object): AsyncGenerator<Rows> {
  try {
    let texts: string[] = [];
    let length = 0;
    for await (const record of source.records()) {
      const text = JSON.stringify(toRow(record));
      texts.push(text);
      length += text.length;
      if (length < largeLength) continue;
      yield toRows(texts);
      texts = [];
      length = 0;
    }
    if (texts.length > 0) yield toRows(texts);
  } finally {
    await source.close();
  }
}

/** Rows of which only the JSON is known. */
const toRows = (texts: readonly string[]): Rows => Object.assign([], { [ownJson]: texts.join(',') });
