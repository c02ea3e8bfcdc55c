/** Milliseconds of work that need no words, and between two lines. */
const quietMs = 500;
const refreshMs = 100;

/** Work whose end is not near: below this share the time that is left is not said. */
const leastShare = 0.02;

/** Some terminals do not say how wide they are. */
export const usualColumns = 80;

let current: { what: string; startedAt: number; shownAt: number } | undefined;

/**
 * Shows how far long work has come, in a line of the terminal that is replaced; nothing where stderr is no terminal. `what` is
 * as `Exporting`, the same for the same work. Where nobody knows the total, what is done is in bytes.
 */
export const showProgress = (what: string, done: number, total?: number): void => {
  if (!process.stderr.isTTY) return;
  const now = performance.now();
  if (done === total) {
    if (current?.what === what) endProgress();
    return;
  }
  if (current?.what !== what) {
    endProgress();
    current = { what, startedAt: now, shownAt: Number.NEGATIVE_INFINITY };
  }
  const { startedAt, shownAt } = current;
  if (now - startedAt < quietMs || now - shownAt < refreshMs) return;
  current.shownAt = now;
  const text = describeProgress(what, done, total, now - startedAt);
  process.stderr.write(`\r\u001b[K${text.slice(0, (process.stderr.columns || usualColumns) - 1)}`);
};

/** Removes the line before something else is printed; the next progress shows it again. */
export const clearProgress = (): void => {
  if (!current || current.shownAt === Number.NEGATIVE_INFINITY) return;
  process.stderr.write('\r\u001b[K');
  current.shownAt = Number.NEGATIVE_INFINITY;
};

/** The work is done, or has failed. */
export const endProgress = (): void => {
  clearProgress();
  current = undefined;
};

/** `Exporting: 45 %, 12 s left` */
export const describeProgress = (what: string, done: number, total: number | undefined, elapsedMs: number): string => {
  // An estimate can be too low.
  if (total === undefined || done > total) return `${what}: ${Math.floor(done / 1e6)} MB`;
  const share = done / total;
  const left = share < leastShare ? '' : `, ${toSpan((elapsedMs * (1 - share)) / share)} left`;
  return `${what}: ${Math.floor(share * 100)} %${left}`;
};

const toSpan = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
};
