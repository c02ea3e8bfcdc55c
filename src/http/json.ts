import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Slice } from '../lib/slice.ts';
import { unreadResponseBytes } from './connections.ts';
import { createUnavailable } from './errors.ts';
import { largeLength } from './response.ts';

/** Serializer option of Fastify. Handlers send JSON text, so routes need no separate serializers. */
export const buildSerializer = () => () => JSON.stringify;

/**
 * Key of a value's ready-made JSON text. The text is sent unchanged. For rows, it contains all rows, joined by commas.
 */
export const ownJson = Symbol('own JSON');

type WithOwnJson = { readonly [ownJson]: string };

/** Rows of a list that are available at the same time, as one piece. */
export type JsonRows<T extends object = object> = Iterable<T>;
export type JsonPieces<T extends object = object> = Iterable<JsonRows<T>> | AsyncIterable<JsonRows<T>>;

/** JSON document that contains a list: the text before the rows, the rows, and the text after them. */
export interface JsonList {
  opening: string;
  pieces: JsonPieces;
  closing: string;
}

/** Name of the Fastify decorator for the state of all responses: the server's `Connections`. */
export const responses = 'responses';

/** State of all responses: number of lists being sent in pieces, and bytes that clients have not read yet. */
type Responses = { lists: number; countUnread(): number };

const type = 'application/json; charset=utf-8';

declare const isSent: unique symbol;

/**
 * Return type of functions that send a list, possibly still in progress. If an `async` handler sent a list, Fastify
 * would send an additional, empty response, so `defineRoute` does not accept an async handler with this return type.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: nothing is both undefined and an object
export type ListSent = void & { readonly [isSent]: true };

/** Passes a value, or the value of a promise, to `send`, and `send` sends the response. Handlers return the result. */
export const whenReady = <T, Sent>(reply: FastifyReply, value: T | Promise<T>, send: (value: T) => Sent): Sent => {
  if (!(value instanceof Promise)) return send(value);
  return value.then((ready) => send(ready) ?? waitFor(reply)) as unknown as Sent;
};

/** Returns the value that Fastify expects from a handler that sends its response itself, possibly still in progress. */
const waitFor = (reply: FastifyReply): void => reply as unknown as undefined;

/** Sends a value as JSON with the status of the reply. */
export const sendJson = (reply: FastifyReply, value: object): void => sendText(reply, toJson(value));

/**
 * Sends a list as JSON. A single piece is sent whole. Several pieces are sent as fast as the client reads, so that a
 * list of any length takes no more memory than one piece.
 */
export const sendList = (reply: FastifyReply, list: JsonList): ListSent => {
  const { pieces } = list;
  if (!(Symbol.iterator in pieces)) {
    return sendAsyncList(reply, list, pieces[Symbol.asyncIterator]()) as unknown as ListSent;
  }
  const iterator = pieces[Symbol.iterator]();
  const first = iterator.next();
  return sendFrom(reply, list, first, first.done ? first : iterator.next(), iterator) as ListSent;
};

const sendAsyncList = async (reply: FastifyReply, list: JsonList, iterator: AsyncIterator<JsonRows>): Promise<void> => {
  const first = await iterator.next();
  sendFrom(reply, list, first, first.done ? first : await iterator.next(), iterator);
  return waitFor(reply);
};

type Source = Iterator<JsonRows> | AsyncIterator<JsonRows>;

const sendFrom = (
  reply: FastifyReply,
  { opening, closing }: JsonList,
  first: IteratorResult<JsonRows>,
  second: IteratorResult<JsonRows>,
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
  // After an async handler that returns nothing, Fastify sends an empty response unless the headers have already been
  // sent.
  reply.raw.flushHeaders();
};

/** Lists that a store may return again. The second response is kept as bytes for all later responses. */
const recent = new WeakMap<JsonRows, { opening: string; closing: string; bytes?: Buffer }>();

const sendOnePiece = (reply: FastifyReply, opening: string, rows: JsonRows, closing: string): void => {
  const known = recent.get(rows);
  if (known?.opening !== opening || known.closing !== closing) {
    recent.set(rows, { opening, closing });
    sendText(reply, opening + toRowsJson(rows) + closing);
    return;
  }
  known.bytes ??= Buffer.from(opening + toRowsJson(rows) + closing);
  sendText(reply, known.bytes);
};

/** Lists that wait until they may build their next piece. */
const waiting: (() => void)[] = [];

/** Number of pieces that are built before other requests get their turn. */
const piecesAtOnce = 4;

const continueWaiting = (): void => {
  for (const begin of waiting.splice(0, piecesAtOnce)) begin();
  if (waiting.length > 0) setImmediate(continueWaiting);
};

/** Lets other requests run before each piece, so that lists do not block the event loop. */
const waitForTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueWaiting);
  });

async function* streamTexts(
  start: string,
  [first, second]: [IteratorYieldResult<JsonRows>, IteratorYieldResult<JsonRows>],
  source: Source,
  end: string,
): AsyncGenerator<string> {
  await waitForTurn();
  yield start + toRowsJson(first.value);
  for (let next: IteratorResult<JsonRows> = second; !next.done; next = await source.next()) {
    await waitForTurn();
    yield `,${toRowsJson(next.value)}`;
  }
  yield end;
}

const sendText = (reply: FastifyReply, text: string | Buffer): void => {
  if (text.length >= largeLength && reply.request.method === 'GET') assertRoom(reply);
  reply.type(type).send(text);
};

/** Throws a 503 if too many bytes are waiting for clients that do not read. */
const assertRoom = (reply: FastifyReply, source?: Source): Responses => {
  const all = reply.server.getDecorator<Responses>(responses);
  if (all.countUnread() <= unreadResponseBytes) return all;
  void source?.return?.();
  throw createUnavailable('Too many responses are waiting for slow clients; try again in a second', 'unread_responses');
};

const toJson = (value: object): string => (value as Partial<WithOwnJson>)[ownJson] ?? JSON.stringify(value);

const toRowsJson = (rows: JsonRows): string =>
  (rows as Partial<WithOwnJson>)[ownJson] ?? Array.from(rows, toJson).join(',');

/** Rows that are read while they are being sent. `close` releases their source. */
interface RowSource<T> {
  count: number;
  records(): AsyncIterable<T>;
  close(): Promise<void>;
}

/** Sends `{count, data}`, converting each record with `toRow`, then closes the source. */
export const sendRows = <T>(reply: FastifyReply, source: RowSource<T>, toRow: (record: T) => object): ListSent =>
  sendList(reply, { opening: `{"count":${source.count},"data":[`, pieces: toPieces(source, toRow), closing: ']}' });

/** Groups records into pieces that are each about the size of one write. */
async function* toPieces<T>(source: RowSource<T>, toRow: (record: T) => object): AsyncGenerator<JsonRows> {
  try {
    let text = '';
    for await (const record of source.records()) {
      text += `${text === '' ? '' : ','}${JSON.stringify(toRow(record))}`;
      if (text.length < largeLength) continue;
      yield toJsonRows(text);
      text = '';
    }
    if (text !== '') yield toJsonRows(text);
  } finally {
    await source.close();
  }
}

/**
 * Joins the JSON of rows with commas. A string ends when it has about the size of one write, or after a slice of time.
 */
export function* joinRows(rows: Iterable<string>): Generator<string> {
  let text = '';
  let slice = new Slice();
  for (const row of rows) {
    text += `${text === '' ? '' : ','}${row}`;
    if (text.length < largeLength && !slice.isOver) continue;
    yield text;
    text = '';
    slice = new Slice();
  }
  if (text !== '') yield text;
}

/** Groups the JSON of rows into pieces that are each about the size of one write. */
export function* toJsonPieces(rows: Iterable<string>): Generator<JsonRows> {
  for (const text of joinRows(rows)) yield toJsonRows(text);
}

/** Yields the JSON row of each item on demand. */
export function* toRowTexts<T>(items: Iterable<T>, toRow: (item: T) => object): Generator<string> {
  for (const item of items) yield JSON.stringify(toRow(item));
}

/**
 * Sends `{"count", "data"}` in pieces that are each about the size of one write. Other requests are answered in
 * between.
 */
export const sendItems = <T>(reply: FastifyReply, items: readonly T[], toRow: (item: T) => object): ListSent =>
  sendList(reply, {
    opening: `{"count":${items.length},"data":[`,
    pieces: toJsonPieces(toRowTexts(items, toRow)),
    closing: ']}',
  });

/** Creates rows that exist only as JSON text, joined by commas. */
export const toJsonRows = (json: string): JsonRows => Object.assign([], { [ownJson]: json });

type Query = Record<string, string | number>;

/** Paging headers for the OpenAPI document. */
export const pagingHeaders = {
  'X-Total-Count': 'Number of matches on all pages.',
  Link: 'Links to other pages, with their relations (RFC 8288).',
};

/**
 * Sets `X-Total-Count`, and a `Link` header (RFC 8288) with the relations `next`, `prev`, `first` and `last`. An entry of
 * `pages` holds only the query parameters that differ from the request. Links are relative, so that they work behind
 * a proxy that serves the program under another path.
 */
export const setPaging = (
  reply: FastifyReply,
  total: number,
  query: object = {},
  pages: Record<string, Query | undefined> = {},
): void => {
  reply.header('x-total-count', total);
  let links = '';
  for (const [relation, page] of Object.entries(pages)) {
    if (page) links += `${links === '' ? '' : ', '}<${toAddress(query, page)}>; rel="${relation}"`;
  }
  if (links !== '') reply.header('link', links);
};

const toAddress = (query: object, page: Query): string => {
  let address = '';
  const add = ([name, value]: [string, string | number]): void => {
    address += `${address === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  };
  for (const parameter of Object.entries(query)) if (!(parameter[0] in page)) add(parameter);
  for (const parameter of Object.entries(page)) add(parameter);
  return address;
};
