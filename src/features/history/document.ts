import Type, { type Static } from 'typebox';
import { openFor } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import { type JsonRows, sendList, toJsonRows } from '../../http/json.ts';
import { parseTime } from '../../http/text-forms.ts';
import { History, hostColumns, severityNames } from '../../kit/machine.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { optionalText } from '../../kit/shape.ts';
import { toOffsetTimestamp } from '../../lib/local-time.ts';
import { roundFigureOrNull } from '../../lib/rounding.ts';
import { alertsAt, type Disks, disksAt, type Ring } from './ring.ts';

const HistoryQuery = Type.Object({
  since: optionalText(
    'Only steps from this time on: RFC 3339 with an offset, or Unix seconds. All steps by default.',
    '2026-01-31T09:30:00Z',
  ),
  step: Type.Integer({
    enum: [1, 10],
    default: 10,
    description: 'Length of a step in seconds: 1 for the last 10 minutes, 10 for the last 24 hours.',
  }),
});

interface HistoryParts {
  rings: readonly Ring[];
  disks: Disks;
  documents: Pick<ReturnType<typeof createDocuments>, 'listPieces'>;
  clock: () => Date;
}

export const createHistoryRoute = ({ rings, disks, documents, clock }: HistoryParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/history',
    ...openFor('machine:read'),
    summary: 'Get the history of CPU, memory, load, disks, network and alerts',
    schema: { operationId: 'getHistory', querystring: HistoryQuery, response: { 200: History } },
    handler: ({ query: { since, step } }, reply) => {
      const ring = rings.find((each) => each.step === step) as Ring;
      const now = Math.floor(clock().getTime() / 1000);
      const range = ring.findRange(since === undefined ? 0 : toSeconds(since), now);
      const span = { ring, disks, ...(range ?? { from: now, to: now - step }) };
      const pieces = documents.listPieces(span, since === undefined);
      return sendList(reply, { opening: toOpening(span), pieces, closing: '}' });
    },
  });

const toSeconds = (text: string): number => {
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : parseTime(text) / 1000;
  if (Number.isNaN(seconds)) {
    throw new HttpError('invalid', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds');
  }
  return Math.ceil(seconds);
};

/** Range of steps in a ring. `from` and `to` are Unix seconds and inclusive. */
interface Span {
  ring: Ring;
  disks: Disks;
  from: number;
  to: number;
}

/** Number of values in one piece of a document. */
const sliceLength = 1000;

/** Returns a short span in the form of the route's response. */
export const toDocument = (span: Span): Static<typeof History> =>
  JSON.parse(`${toOpening(span)}${[...listTexts(span)].join()}}`);

/** Returns the JSON of a document up to its columns. */
const toOpening = ({ ring: { step }, from, to }: Span): string =>
  `{"step":${step},"start":"${toOffsetTimestamp(new Date(from * 1000))}","count":${(to - from) / step + 1},`;

/** Writes documents in pieces. The document of a whole ring is cached until the ring changes. */
export const createDocuments = () => {
  const kept = new Map<Ring, ReturnType<typeof createSharedTexts>>();
  return {
    listPieces: (span: Span, isWhole: boolean): Iterable<JsonRows> => {
      if (!isWhole) return toPieces(listTexts(span));
      const texts = kept.get(span.ring) ?? createSharedTexts(listTexts(span));
      kept.set(span.ring, texts);
      return toPieces(texts());
    },
    forget: (ring: Ring): void => void kept.delete(ring),
  };
};

/** Shares generated strings between readers. Each string is computed when the first reader needs it. */
const createSharedTexts = (source: Iterator<string>) => {
  const texts: string[] = [];
  return function* (): Generator<string> {
    for (let index = 0; ; index += 1) {
      if (index === texts.length) {
        const { done, value } = source.next();
        if (done) return;
        texts.push(value);
      }
      yield texts[index] as string;
    }
  };
};

function* toPieces(texts: Iterable<string>): Generator<JsonRows> {
  for (const text of texts) yield toJsonRows(text);
}

/** Yields the members that follow the opening of a document. Joined by commas, they complete the JSON. */
function* listTexts({ ring, disks, from, to }: Span): Generator<string> {
  const list = (before: string, column: number, after = '') => listColumn(before, ring.list(column, from, to), after);
  for (const [column, name] of hostColumns.entries()) yield* list(`"${name}":`, column);
  for (const [index, level] of severityNames.entries()) {
    const isLast = index === severityNames.length - 1;
    yield* list(`${index === 0 ? '"alerts":{' : ''}"${level}":`, alertsAt + index, isLast ? '}' : '');
  }
  // A slot without a name is free.
  const slots = [...disks.keys()].filter((slot) => disks[slot] !== '');
  if (slots.length === 0) yield '"disks":[]';
  for (const slot of slots) {
    const opening = `${slot === slots[0] ? '"disks":[' : ''}{"mountPath":${JSON.stringify(disks[slot])},`;
    yield* list(`${opening}"used":`, disksAt + 2 * slot);
    yield* list('"total":', disksAt + 2 * slot + 1, slot === slots.at(-1) ? '}]' : '}');
  }
}

/** Yields a list of numbers in slices, with the given strings before and after the list. */
function* listColumn(before: string, values: Iterable<number>, after: string): Generator<string> {
  let slice: string[] = [];
  let opening = `${before}[`;
  let [last, text] = [Number.NaN, 'null'];
  for (const value of values) {
    if (slice.length === sliceLength) {
      yield opening + slice.join(',');
      opening = '';
      slice = [];
    }
    // Disk sizes and alert counts often repeat the previous value.
    if (!Object.is(value, last)) [last, text] = [value, String(roundFigureOrNull(value))];
    slice.push(text);
  }
  yield `${opening}${slice.join(',')}]${after}`;
}
