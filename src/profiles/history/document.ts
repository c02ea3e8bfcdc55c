import { ownJson, type Rows } from '../../http/json.ts';
import { toOffsetTimestamp } from '../../http/timestamp.ts';
import { alertLevels, alertsAt, disksAt, hostColumns } from './columns.ts';
import type { Disks } from './file.ts';
import type { Ring } from './ring.ts';

/** The steps of a ring from one time to another, both included. */
export interface Span {
  ring: Ring;
  disks: Disks;
  from: number;
  to: number;
}

/** Values that are written before other requests get their turn. */
const sliceLength = 1000;

/** A short span as the document that the route sends, for listeners. */
export const toDocument = (span: Span): object => {
  const read = (column: number) => Array.from(span.ring.list(column, span.from, span.to), toShort);
  return {
    ...toHead(span),
    ...Object.fromEntries(hostColumns.map((name, column) => [name, read(column)])),
    alerts: Object.fromEntries(alertLevels.map((level, index) => [level, read(alertsAt + index)])),
    disks: listDiskColumns(span.disks).map(({ mountPath, used, total }) => ({
      ...{ mountPath, used: read(used), total: read(total) },
    })),
  };
};

/** What is known of a document before its columns. */
export const toHead = ({ ring: { step }, from, to }: Omit<Span, 'disks'>) => ({
  step,
  start: toOffsetTimestamp(new Date(from * 1000)),
  count: (to - from) / step + 1,
});

/** Writes documents in pieces; those of all steps of a ring are kept until the ring has other rows. */
export const createDocuments = () => {
  const kept = new Map<Ring, ReturnType<typeof createSharedTexts>>();
  return {
    listPieces: (span: Span, isWhole: boolean): Iterable<Rows> => {
      if (!isWhole) return toPieces(listTexts(span));
      const texts = kept.get(span.ring) ?? createSharedTexts(listTexts(span));
      kept.set(span.ring, texts);
      return toPieces(texts());
    },
    forget: (ring: Ring): void => void kept.delete(ring),
  };
};

/** Texts that several readers share: each is written once, for the first one who needs it. */
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

function* toPieces(texts: Iterable<string>): Generator<Rows> {
  for (const text of texts) yield Object.assign([], { [ownJson]: text });
}

/** The members of the document after its head; joined by commas they are JSON. */
function* listTexts({ ring, disks, from, to }: Span): Generator<string> {
  const list = (before: string, column: number, after = '') => listColumn(before, ring.list(column, from, to), after);
  for (const [column, name] of hostColumns.entries()) yield* list(`"${name}":`, column);
  for (const [index, level] of alertLevels.entries()) {
    const isLast = index === alertLevels.length - 1;
    yield* list(`${index === 0 ? '"alerts":{' : ''}"${level}":`, alertsAt + index, isLast ? '}' : '');
  }
  const rows = listDiskColumns(disks);
  if (rows.length === 0) yield '"disks":[]';
  for (const [index, { mountPath, used, total }] of rows.entries()) {
    const isLast = index === rows.length - 1;
    yield* list(`${index === 0 ? '"disks":[' : ''}{"mountPath":${JSON.stringify(mountPath)},"used":`, used);
    yield* list('"total":', total, isLast ? '}]' : '}');
  }
}

/** A list of numbers between two texts, a slice at a time. */
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
    // Sizes of disks, and the alerts of most steps, are those of the step before.
    if (!Object.is(value, last)) [last, text] = [value, String(toShort(value))];
    slice.push(text);
  }
  yield `${opening}${slice.join(',')}]${after}`;
}

/** Where the columns of each disk are; slots without a name are free. */
const listDiskColumns = (disks: Disks) =>
  disks.flatMap((mountPath, index) =>
    mountPath === '' ? [] : [{ mountPath, used: disksAt + 2 * index, total: disksAt + 2 * index + 1 }],
  );

/** Five digits are enough for shares and small rates; unknown values are null. */
const toShort = (value: number): number | null => {
  if (!Number.isFinite(value)) return null;
  return value >= 1000 ? Math.round(value) : Number(value.toPrecision(5));
};
