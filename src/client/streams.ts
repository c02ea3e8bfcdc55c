import { ClientError, isPassingError, parseResponseJson, pause, toRetryDelay } from './send.ts';

/** One server-sent event. */
export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: string;
}

interface Reading {
  /** Called for each piece of the stream. Comments count as pieces. */
  onContact?: () => void;
  /** Milliseconds without data after which the stream counts as broken. */
  silence?: number;
}

/** Reads server-sent events until the stream ends. Throws if the stream breaks or is aborted. */
export async function* readEvents(
  response: Response,
  { onContact, silence }: Reading = {},
): AsyncGenerator<ServerEvent> {
  let rest = '';
  for await (const piece of readPieces(response, silence)) {
    onContact?.();
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** Parses the event in a block of lines. Undefined for comments. */
const parseEvent = (block: string): ServerEvent | undefined => {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name !== undefined) fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
  }
  const { id, event = 'message', data } = fields;
  return data === undefined && event === 'message' ? undefined : { id, event, data: data ?? '' };
};

/** Maximum milliseconds without data. The server sends a comment every 15 s. */
const longestSilence = 45_000;
const longestDelay = 30_000;
/** Minimum milliseconds that a connection must last, so that its end does not count as a failure. */
const shortestLife = 5000;

export interface FollowedStream {
  /** Opens the stream after the event with this id. Rejects with a ClientError if the stream cannot be opened. */
  open(lastId: string | undefined): Promise<Response>;
  lastId: string | undefined;
  signal: AbortSignal;
}

/**
 * Yields events as long as the caller takes them, reconnecting as needed. Throws if the first connection fails, or if
 * the server permanently refuses a later one. Throws the signal's reason after an abort.
 */
export async function* followEvents({ open, lastId, signal }: FollowedStream): AsyncGenerator<ServerEvent> {
  let wasOpen = false;
  for (let failures = 0; ; failures += 1) {
    let retryAfter = 0;
    let response: Response | undefined;
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      response = await open(lastId);
      wasOpen = true;
      openedAt = Date.now();
    } catch (error) {
      if (!(wasOpen && error instanceof ClientError && isPassingError(error))) throw error;
      retryAfter = (error.retryAfter ?? 0) * 1000;
    }
    try {
      for await (const event of response ? readEvents(response, { silence: longestSilence }) : []) {
        lastId = event.id ?? lastId;
        if (event.event === 'hello') continue;
        failures = 0;
        yield event;
      }
    } catch {
      signal.throwIfAborted();
    }
    if (Date.now() - openedAt >= shortestLife) failures = 0;
    await pause(Math.max(retryAfter, toRetryDelay(failures, longestDelay)), signal);
  }
}

type Input = Record<string, unknown>;
type Page = Record<string, unknown> & { data: unknown[] };

interface Paging {
  /** Name of the page size parameter, and the size to request. */
  size: string;
  usual: number;
  /** Returns the changed parameters for the next page. Undefined after the last page. */
  next(page: Page, size: number): Input | undefined;
}

/** Ways to request the next page, by the parameter for the start of a page. */
export const pagings: Record<string, Paging> = {
  after: {
    size: 'limit',
    usual: 1000,
    next: ({ data }, size) => {
      const last = data.at(-1) as { Id: number } | undefined;
      return last && data.length >= size ? { after: last.Id } : undefined;
    },
  },
  before: { size: 'limit', usual: 1000, next: ({ next }) => (next === null ? undefined : { before: next }) },
  page: {
    size: 'size',
    usual: 1000,
    next: ({ data, page, total }, size) =>
      data.length > 0 && Number(page) * size < Number(total) ? { page: Number(page) + 1 } : undefined,
  },
};

/** Yields the entries of all pages, starting with the page in the input. */
export async function* readListPages(
  { size, usual, next }: Paging,
  input: Input,
  read: (input: Input) => Promise<unknown>,
): AsyncGenerator<unknown, void> {
  const first: Input = { [size]: usual, ...input };
  for (let change: Input | undefined = {}; change; ) {
    const page = (await read({ ...first, ...change })) as Page;
    yield* page.data;
    change = next(page, Number(first[size]));
  }
}

/**
 * Yields the entries of a list as they arrive. The list is the whole JSON body or one of its properties. Throws a
 * ClientError if the body ends early, pauses for longer than `silence` milliseconds, or is not JSON. Throws the
 * signal's reason after an abort.
 */
export async function* readEntries(
  name: string,
  response: Response,
  { signal, silence }: { signal?: AbortSignal | undefined; silence?: number },
): AsyncGenerator<unknown, void> {
  const finder = createFinder();
  try {
    for await (const piece of readPieces(response, silence)) {
      for (const entry of finder.find(piece)) yield parseResponseJson(name, entry, response);
    }
    if (!finder.isComplete()) throw new Error('the JSON document is not complete');
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ClientError) throw cause;
    throw new ClientError('connection', `${name}: the response ended early`, { cause });
  }
}

/** Creates a function that finds the JSON of each entry in a body that arrives in pieces. */
const createFinder = () => {
  const marks = /["\\{}[\]]/g;
  /** Open brackets of the objects and lists that are being read. */
  let open = '';
  let isText = false;
  /** Text of the unfinished entry so far. */
  let text = '';
  /** Index at which the entry begins, or -1. */
  let start = -1;
  /** Number of characters of `text` already scanned. */
  let done = 0;
  const isInList = () => open === '[' || open === '{[';
  const find = function* (piece: string): Generator<string, void> {
    text += piece;
    marks.lastIndex = done;
    done = text.length;
    for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
      const [sign] = mark;
      if (sign === '\\') {
        // An escaped character is part of the text, even if the character arrives in the next piece.
        marks.lastIndex += 1;
        done = Math.max(done, marks.lastIndex);
      } else if (sign === '"') {
        isText = !isText;
      } else if (!isText && (sign === '{' || sign === '[')) {
        if (sign === '{' && isInList()) start = mark.index;
        open += sign;
      } else if (!isText) {
        open = open.slice(0, -1);
        if (sign === '}' && isInList()) {
          yield text.slice(start, mark.index + 1);
          start = -1;
        }
      }
    }
    const used = start < 0 ? text.length : start;
    text = text.slice(used);
    done -= used;
    if (start > 0) start = 0;
  };
  return { find, isComplete: () => open === '' };
};

/**
 * Yields the text of a body in pieces as they arrive. Throws if the body breaks off or the signal is aborted. Throws a
 * ClientError after `silence` milliseconds without data.
 */
async function* readPieces({ body, url }: Response, silence?: number): AsyncGenerator<string, void> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  let isLost = false;
  const giveUp = () => {
    isLost = true;
    cancel();
  };
  try {
    for (;;) {
      const timer = silence === undefined ? undefined : setTimeout(giveUp, silence);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (isLost) throw new ClientError('timeout', `GET ${url}: no data for ${silence} ms`);
      if (done) return;
      yield value;
    }
  } finally {
    cancel();
  }
}
