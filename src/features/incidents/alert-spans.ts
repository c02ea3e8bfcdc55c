import Type, { type Static } from 'typebox';

/**
 * Seqs of an incident's first and last alert, for each period during which the incident was open. Alerts in between may
 * belong to other incidents.
 */
export const AlertSpans = Type.Array(Type.Tuple([Type.Integer(), Type.Integer()]));
export type AlertSpans = Static<typeof AlertSpans>;

/** Maximum number of spans. Beyond it, the first two spans are merged. */
export const maxSpans = 64;

/** Seq in a span without alerts. Such a span begins when a person reopens the incident. */
const noAlert = 0;

/** Adds the span of a reopened incident. Omit the seq if a person reopened it. */
export const addSpan = (spans: AlertSpans, seq = noAlert): AlertSpans => {
  const all: AlertSpans = [...spans.filter(([first]) => first !== noAlert), [seq, seq]];
  const [first, second] = all;
  return first && second && all.length > maxSpans ? [[first[0], second[1]], ...all.slice(2)] : all;
};

/** Extends the last span to include an alert. */
export const extendSpans = (spans: AlertSpans, seq: number): AlertSpans => {
  const [first = seq] = spans.at(-1) ?? [];
  return spans.with(-1, [first === noAlert ? seq : first, seq]);
};

/** True if an alert with the incident's key belongs to the incident. */
export const hasAlert = (spans: AlertSpans, seq: number): boolean =>
  spans.some(([first, last]) => first <= seq && seq <= last);

/**
 * Returns the spans with each seq moved. The last span stays even if it has no alert left, because it can still grow.
 */
export const moveSpans = (
  spans: AlertSpans,
  moveFirst: (seq: number) => number,
  moveLast: (seq: number) => number,
): AlertSpans =>
  spans.flatMap(([from, to], index) => {
    const [first, last] = [moveFirst(from), moveLast(to)];
    if (from !== noAlert && first <= last) return [[first, last]];
    return index === spans.length - 1 ? [[noAlert, noAlert]] : [];
  });
