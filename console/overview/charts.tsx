import { getHistory } from '../calls/history.ts';
import { getMachine } from '../calls/host.ts';
import { toBytes, toCount, toPercent, toShortNumber, toWholeBytes } from '../format.ts';
import { isMounted } from '../mounts.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Chart } from '../ui/chart.tsx';
import { Segments } from '../ui/chip.tsx';
import { knownLevels, toLevelName } from '../ui/level.tsx';
import type { PlotData, Series } from '../ui/plot.ts';
import { historyError, useHistory } from './history.ts';
import { type Samples, type Span, spans, sumUp } from './samples.ts';

const words = text.overview;

const readSpan = (): Span => (place.value.params['range'] === 'day' ? 'day' : 'live');

export const RangeChoice = () =>
  isMounted(getMachine) && (
    <Segments
      label={words.range}
      value={readSpan()}
      options={[
        ['live', words.live],
        ['day', words.day],
      ]}
      onValue={(span) => setParams({ range: span === 'live' ? undefined : span })}
    />
  );

/** The machine over time; one crosshair runs through all of it. */
export const Charts = () => {
  const span = readSpan();
  const samples = useHistory(span);
  const build = (found: [name: string, label: string][], rest: Partial<PlotData> = {}): PlotData | undefined =>
    samples.times.length < 2 || found.length === 0 ? undefined : toData(samples, span, found, rest);
  const names = Object.keys(samples.columns);
  const starting = (prefix: string): [string, string][] =>
    names.filter((name) => name.startsWith(prefix)).map((name) => [name, name.slice(prefix.length)]);
  const share = { top: 100, format: toPercent, axis: (value: number) => `${toCount(value)} %` };
  const error = historyError.value;
  // Their places are kept while the history is loaded.
  const has = (name: string) => name in samples.columns || (samples.times.length === 0 && isMounted(getHistory));
  return (
    <div class="charts">
      {error?.problem === 'shape' && <p class="failure">{error.message}</p>}
      <Chart title={words.cpu} data={build([['cpu', words.cpuBusy]], share)} />
      <Chart title={words.memory} data={build([['memory', words.memoryUsed]], share)} />
      <Chart title={words.disks} data={build(starting('disk '), share)} />
      {has('received') && (
        <Chart
          title={words.network}
          data={build(
            [
              ['received', words.received],
              ['sent', words.sent],
            ],
            { isBytes: true, format: (value) => `${toBytes(value)}/s`, axis: toWholeBytes },
          )}
        />
      )}
      {has('load') && <Chart title={words.load} data={build([['load', words.loadMean]], { format: toShortNumber })} />}
      {has('alerts error') && (
        <Chart title={words.alertsOverTime} data={samples.times.length < 2 ? undefined : toBars(samples, span)} />
      )}
    </div>
  );
};

/** Seconds of one bar. */
const barSeconds: Record<Span, number> = { live: 10, day: 600 };

/** Levels from the worst, which is at the bottom. */
const levels = [...knownLevels, 'other'].map((level): [string, string] => [
  `alerts ${level.toLowerCase()}`,
  level === 'other' ? text.alerts.levels.other : toLevelName(level),
]);

const toBars = (samples: Samples, span: Span): PlotData => {
  const names = levels.map(([name]) => name);
  const last = samples.times.at(-1) ?? 0;
  const bars = toData(sumUp(samples, names, barSeconds[span]), span, levels, { kind: 'bars' });
  return { ...bars, from: last - spans[span], to: last };
};

const toData = (
  { times, columns }: Samples,
  span: Span,
  names: [name: string, label: string][],
  rest: Partial<PlotData>,
): PlotData => {
  const to = times.at(-1) ?? 0;
  const series = names.map(([name, label], index): Series => {
    const level = name.startsWith('alerts ') ? name.slice(7) : undefined;
    const color = level ? `--${level}-bar` : `--series-${(index % 4) + 1}`;
    return { label, color, values: columns[name] ?? [] };
  });
  return { times, series, from: to - spans[span], to, kind: 'lines', format: toCount, ...rest };
};
