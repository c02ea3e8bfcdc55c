/** Milliseconds of work before the first progress line, and milliseconds between two updates. */
const quietMs = 500;
const refreshMs = 100;

/** Minimum share of the work after which the remaining time is estimated. */
const minShare = 0.02;

/** Width for terminals that do not report theirs. */
export const usualColumns = 80;

let current: { what: string; startedAt: number; shownAt: number } | undefined;

/**
 * Shows progress on one line of the terminal. Each call overwrites the line. Prints nothing if stderr is not a
 * terminal. `what` names the work, such as `Exporting`. Without a total, `done` is in bytes.
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

/** Clears the line before other output. The next call of `showProgress` prints it again. */
export const clearProgress = (): void => {
  if (!current || current.shownAt === Number.NEGATIVE_INFINITY) return;
  process.stderr.write('\r\u001b[K');
  current.shownAt = Number.NEGATIVE_INFINITY;
};

/** Ends the progress line when work has completed or failed. */
export const endProgress = (): void => {
  clearProgress();
  current = undefined;
};

/** Formats the progress of work: `Exporting: 45 %, 12 s left`. */
export const describeProgress = (what: string, done: number, total: number | undefined, elapsedMs: number): string => {
  // The actual total exceeds the estimate.
  if (total === undefined || done > total) return `${what}: ${Math.floor(done / 1e6)} MB`;
  const share = done / total;
  const left = share < minShare ? '' : `, ${toSpan((elapsedMs * (1 - share)) / share)} left`;
  return `${what}: ${Math.floor(share * 100)} %${left}`;
};

const toSpan = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
};
