import { ClientError, parseJson } from './error.ts';
import { readPieces } from './pieces.ts';

type Input = Record<string, unknown>;
type Page = Record<string, unknown> & { data: unknown[] };

interface Paging {
  /** The parameter for the size of a page, and the size that is asked for. */
  size: string;
  usual: number;
  /** The parameters that differ on the next page; undefined after the last. */
  next(page: Page, size: number): Input | undefined;
}

/** How the next page is asked for, by the parameter that says where it begins. */
export const pagings: Record<string, Paging> = {
  after: {
    ...{ size: 'limit', usual: 1000 },
    next: ({ data }, size) => {
      const last = data.at(-1) as { Id: number } | undefined;
      return last && data.length >= size ? { after: last.Id } : undefined;
    },
  },
  before: { ...{ size: 'limit', usual: 1000 }, next: ({ next }) => (next === null ? undefined : { before: next }) },
  page: {
    ...{ size: 'size', usual: 1000 },
    next: ({ data, page, total }, size) =>
      data.length > 0 && Number(page) * size < Number(total) ? { page: Number(page) + 1 } : undefined,
  },
};

/** The entries of all pages, from the one that the input names on. */
export async function* readPages(
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
 * The objects of a list as they arrive: those directly in a JSON list that is the whole body, or a member of it. Throws a
 * ClientError if the body ends early, pauses for longer than `silence` milliseconds or is not JSON, or the signal's reason.
 */
export async function* readEntries(
  name: string,
  response: Response,
  { signal, silence }: { signal?: AbortSignal | undefined; silence?: number },
): AsyncGenerator<unknown, void> {
  const finder = createFinder();
  try {
    for await (const piece of readPieces(response, silence)) {
      for (const entry of finder.find(piece)) yield parseJson(name, entry, response);
    }
    if (!finder.isComplete()) throw new Error('it is not complete');
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ClientError) throw cause;
    throw new ClientError('connection', `${name}: the response broke off`, { cause });
  }
}

/** Finds the texts of entries in a body that comes in pieces. */
const createFinder = () => {
  const marks = /["\\{}[\]]/g;
  /** The objects and lists that are open. */
  let open = '';
  let isText = false;
  /** What has come of an unfinished entry. */
  let text = '';
  /** Where the entry begins, or -1. */
  let start = -1;
  /** How much of `text` has been looked at. */
  let done = 0;
  const isInList = () => open === '[' || open === '{[';
  const find = function* (piece: string): Generator<string, void> {
    text += piece;
    marks.lastIndex = done;
    done = text.length;
    for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
      const [sign] = mark;
      if (sign === '\\') {
        // The next character is part of the text, even if it is in the next piece.
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
