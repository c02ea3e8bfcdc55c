/** The first and last seq of the alerts of an incident, for each time that it was open: its key may have others in between. */
export type Spans = [first: number, last: number][];

/** So many times can an incident be opened again before the first ones become one. */
const mostSpans = 64;

/** What a span has in place of the first alert, after a person has reopened the incident. */
const noAlert = 0;

/** With one more time that it is open: from an alert on, or from when a person reopens it. */
export const addSpan = (spans: Spans, seq = noAlert): Spans => {
  const all: Spans = [...spans.filter(([first]) => first !== noAlert), [seq, seq]];
  const [first, second] = all;
  return first && second && all.length > mostSpans ? [[first[0], second[1]], ...all.slice(2)] : all;
};

/** With one more alert since the incident was opened last. */
export const extendSpans = (spans: Spans, seq: number): Spans => {
  const [first = seq] = spans.at(-1) ?? [];
  return spans.with(-1, [first === noAlert ? seq : first, seq]);
};

/** Whether an alert belongs to the incident, whose key it has. */
export const hasAlert = (spans: Spans, seq: number): boolean =>
  spans.some(([first, last]) => first <= seq && seq <= last);
