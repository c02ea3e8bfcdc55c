import type { RecentRun } from 'signalbox/client';
import { toCount, toDuration, toFull } from '../format.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';

/** Describes the duration of a run in words, with fractions below a minute. */
export const toRunTime = (milliseconds: number): string =>
  milliseconds < 1000 ? `${toCount(milliseconds)} ms` : toDuration(milliseconds / 1000);

/** Maximum number of bars. */
const most = 20;
const height = 28;
const least = 0.25;

/** Last runs as bars from left to right. The colour shows the result, and the height shows the duration. */
export const RunStrip = ({ runs }: { runs: readonly RecentRun[] }) => {
  const shown = runs.slice(-most);
  if (shown.length === 0) return null;
  const longest = Math.max(1, ...shown.map(({ durationMs }) => durationMs ?? 0));
  const heightOf = ({ durationMs }: RecentRun): number =>
    // The square root keeps short runs visible next to long runs.
    durationMs === null ? 1 : least + (1 - least) * Math.sqrt(durationMs / longest);
  return (
    <svg
      class="runs"
      viewBox={`0 0 ${most * 5} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={summarize(shown)}
    >
      {shown.map((run, index) => (
        <rect
          key={`${run.at}${index}`}
          class={`run-${run.result}`}
          x={(most - shown.length + index) * 5}
          width={4}
          y={height * (1 - heightOf(run))}
          height={height * heightOf(run)}
        >
          <title>{describeRun(run)}</title>
        </rect>
      ))}
    </svg>
  );
};

const describeRun = ({ result, at, durationMs }: RecentRun): string =>
  words.run(
    words.results[result],
    toFull(new Date(at)),
    durationMs === null ? '' : words.lasted(toRunTime(durationMs)),
  );

const summarize = (runs: readonly RecentRun[]): string => {
  const failed = runs.filter(({ result }) => result === 'failure' || result === 'unfinished').length;
  const last = runs.findLast(({ durationMs }) => durationMs !== null)?.durationMs ?? null;
  return words.strip(toCount(runs.length), toCount(failed), last === null ? '' : words.lastTook(toRunTime(last)));
};
