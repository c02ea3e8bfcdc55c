import type { ComponentChildren } from 'preact';
import { severities } from '../../src/kit/severity.ts';
import { toBytes, toCount, toPercent, toShortNumber, toWholeBytes } from '../format.ts';
import { type Params, toHash } from '../router.ts';
import { isAllowed, isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Chart } from './chart.tsx';
import { Icon } from './icon.tsx';
import type { PlotData, Series } from './plot.ts';
import { type Samples, type Span, spans, sumUp } from './samples.ts';
import { toTone } from './severity.tsx';

const words = text.overview;

interface Props {
  samples: Samples;
  span: Span;
}

/** Link to the form for a watch on the value of a chart. */
const WatchThis = ({ title, preset }: { title: string; preset: Params }) =>
  isAllowed('createWatch') && (
    <a
      class="watch-this"
      href={toHash('/watches', { new: '1', back: location.hash.slice(1) || '/', ...preset })}
      title={words.watchThis}
    >
      <Icon name="watches" />
      <span class="unseen">{words.watchThisOf(title)}</span>
    </a>
  );

/** Chart of alerts per severity. */
export const AlertChart = ({ samples, span }: Props) => (
  <Chart
    title={words.alertsOverTime}
    data={samples.times.length < 2 ? undefined : toBars(samples, span)}
    aside={<WatchThis title={words.alertsOverTime} preset={presets.alerts} />}
  />
);

/** Limits of the default watches. */
const presets = {
  alerts: { type: 'alert', source: '*', metric: 'count', minutes: '60', limit: '20' },
  disk: { type: 'disk', limit: '90', critical: '97' },
  cpu: { type: 'cpu', limit: '95', for: '60' },
  memory: { type: 'memory', limit: '95', for: '300' },
  load: { type: 'load', limit: '2', for: '300' },
} satisfies Record<string, Params>;

/**
 * Minimum limit for a new network watch, in bytes per second. Otherwise, the limit is about twice the highest reading.
 */
const leastNetwork = 2 ** 20;

const toNetworkPreset = ({ columns }: Samples): Params => {
  const most = Math.max(leastNetwork / 2, ...(columns['received'] ?? []).map((value) => value ?? 0));
  return { type: 'network', metric: 'received', limit: String(2 ** Math.ceil(Math.log2(2 * most))), for: '60' };
};

const share = { top: 100, format: toPercent, axis: (value: number) => `${toCount(value)} %` };

export const DiskChart = ({ samples, span }: Props) => {
  const names = Object.keys(samples.columns).filter((name) => name.startsWith('disk '));
  const found = names.map((name): [string, string] => [name, name.slice('disk '.length)]);
  const isThere = samples.times.length >= 2 && found.length > 0;
  const mounts = found.map(([, label]) => label).join(',');
  return (
    <Chart
      title={words.diskUse}
      data={isThere ? toData(samples, span, found, share) : undefined}
      aside={<WatchThis title={words.diskUse} preset={{ ...presets.disk, mounts }} />}
    />
  );
};

/** Charts of the machine and any additional charts. All share one crosshair. */
export const MachineCharts = ({ samples, span, children }: Props & { children?: ComponentChildren }) => {
  const build = (found: [name: string, label: string][], rest: Partial<PlotData> = {}): PlotData | undefined =>
    samples.times.length < 2 || found.length === 0 ? undefined : toData(samples, span, found, rest);
  // Charts keep their places while the history is loading.
  const has = (name: string) => name in samples.columns || (samples.times.length === 0 && isMounted('getHistory'));
  return (
    <div class="charts">
      <Chart
        title={words.cpu}
        data={build([['cpu', words.cpuBusy]], share)}
        aside={<WatchThis title={words.cpu} preset={presets.cpu} />}
      />
      <Chart
        title={words.memory}
        data={build([['memory', words.memoryUsed]], share)}
        aside={<WatchThis title={words.memory} preset={presets.memory} />}
      />
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
          aside={<WatchThis title={words.network} preset={toNetworkPreset(samples)} />}
        />
      )}
      {has('load') && (
        <Chart
          title={words.load}
          data={build([['load', words.loadMean]], { format: toShortNumber })}
          aside={<WatchThis title={words.load} preset={presets.load} />}
        />
      )}
      {children}
    </div>
  );
};

const barSeconds: Record<Span, number> = { live: 10, day: 600 };

/** Levels, worst first. In the chart, the worst is at the bottom. */
const levels = severities.map((severity): [string, string] => [
  `alerts ${toTone(severity)}`,
  text.alerts.severities[severity],
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
