import Type, { type Static } from 'typebox';

/** First and last seq of the alerts of an incident for each time it was open; other alerts may have seqs in between. */
export const AlertSpans = Type.Array(Type.Tuple([Type.Integer(), Type.Integer()]));
export type AlertSpans = Static<typeof AlertSpans>;

/** Number of spans above which the first two become one. */
const maxSpans = 64;

/** Seq in a span without alerts, after a person has reopened the incident. */
const noAlert = 0;

/** Adds the span of a reopened incident; without a seq if a person has reopened it. */
export const addSpan = (spans: AlertSpans, seq = noAlert): AlertSpans => {
  const all: AlertSpans = [...spans.filter(([first]) => first !== noAlert), [seq, seq]];
  const [first, second] = all;
  return first && second && all.length > maxSpans ? [[first[0], second[1]], ...all.slice(2)] : all;
};

/** Extends the last span by an alert. */
export const extendSpans = (spans: AlertSpans, seq: number): AlertSpans => {
  const [first = seq] = spans.at(-1) ?? [];
  return spans.with(-1, [first === noAlert ? seq : first, seq]);
};

/** True if an alert with the key of the incident is one of its alerts. */
export const hasAlert = (spans: AlertSpans, seq: number): boolean =>
  spans.some(([first, last]) => first <= seq && seq <= last);
