import { useEffect } from 'preact/hooks';
import { send } from '../api.ts';
import { type AlertHistogram, countAlerts } from '../calls/alerts.ts';
import { serverNow } from '../clock.ts';
import { toCount, toShortClock, toShortDay, toTime } from '../format.ts';
import { type Resource, useResource } from '../live/resource.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Segments } from '../ui/chip.tsx';
import { type Bar, Histogram } from '../ui/histogram.tsx';
import { Icon } from '../ui/icon.tsx';
import { knownLevels, toKnownLevel } from '../ui/level.tsx';
import { Panel } from '../ui/panel.tsx';
import { readWindow, windows } from './filter.ts';

const words = text.alerts;
const hourMs = 3_600_000;
/** Milliseconds until alerts are counted again while the server has not counted all of them. */
const recount = 1000;

/** The counts of the window that the address names, kept current. */
export const useHistogram = (): Resource<AlertHistogram> => {
  const name = readWindow();
  const load = (signal: AbortSignal) => {
    const { hours, buckets } = windows[name];
    const since = new Date(serverNow() - hours * hourMs).toISOString();
    return send(countAlerts, { query: { since, buckets }, signal });
  };
  const histogram = useResource(load, { key: name, topic: 'alerts', calm: 1000 });
  const { value, reload } = histogram;
  useEffect(() => {
    if (value?.complete !== false) return;
    const timer = setTimeout(reload, recount);
    return () => clearTimeout(timer);
  }, [value]);
  return histogram;
};

/** How many alerts of each level the histogram shows. */
export const countLevels = (histogram: AlertHistogram | undefined): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { levels } of histogram?.buckets ?? []) {
    for (const [level, count] of Object.entries(levels)) counts[level] = (counts[level] ?? 0) + count;
  }
  return counts;
};

export const WindowChoice = () => (
  <Segments
    label={words.range}
    value={readWindow()}
    options={[
      ['1h', words.ranges.hour],
      ['24h', words.ranges.day],
      ['7d', words.ranges.week],
    ]}
    onValue={(range) => setParams({ range: range === '24h' ? undefined : range })}
  />
);

/** Alerts over time by level, which is also the filter for a time. */
export const OverTime = ({ histogram }: { histogram: AlertHistogram | undefined }) => {
  const { since, until, level } = place.value.params;
  const chosen = since || until ? { from: toMs(since, 0), to: toMs(until, Number.POSITIVE_INFINITY) } : undefined;
  const bars = histogram ? toBars(histogram, level) : [];
  const clear = () => setParams({ since: undefined, until: undefined, before: undefined });
  const total = bars.reduce((sum, { parts }) => sum + parts.reduce((all, { count }) => all + count, 0), 0);
  const isLong = readWindow() === '7d';
  return (
    <Panel
      title={words.histogram}
      aside={
        chosen ? (
          <button type="button" class="link" aria-label={words.clearRange} onClick={clear}>
            {words.chosen(toWords(since), toWords(until))} <Icon name="close" />
          </button>
        ) : (
          <span class="hint">{histogram?.complete === false ? words.counting : words.histogramHint}</span>
        )
      }
    >
      <Histogram
        label={words.bar(words.ranges[isLong ? 'week' : readWindow() === '1h' ? 'hour' : 'day'], toCount(total))}
        bars={bars}
        onClear={clear}
        toTop={toCount}
        chosen={chosen}
        onChoose={(from, to) =>
          setParams({ since: new Date(from).toISOString(), until: new Date(to).toISOString(), before: undefined })
        }
        toTick={(time) => (isLong ? toShortDay(time) : toShortClock(time))}
      />
    </Panel>
  );
};

const toMs = (time: string | undefined, otherwise: number): number => (time ? Date.parse(time) : otherwise);

const toWords = (time: string | undefined): string => (time ? toTime(new Date(time)) : '…');

const toBars = ({ buckets, bucketSeconds }: AlertHistogram, only: string | undefined): Bar[] =>
  buckets.map(({ time, count, levels }) => {
    const from = Date.parse(time);
    const sums: Record<string, number> = {};
    for (const [level, each] of Object.entries(levels)) {
      const known = toKnownLevel(level).toLowerCase();
      if (only === undefined || only === level) sums[known] = (sums[known] ?? 0) + each;
    }
    const parts = [...knownLevels, 'other'].flatMap((level) => {
      const each = sums[level.toLowerCase()] ?? 0;
      return each === 0 ? [] : [{ color: `bar-${level.toLowerCase()}`, count: each }];
    });
    return { from, to: from + bucketSeconds * 1000, parts, title: words.bar(toTime(new Date(from)), toCount(count)) };
  });
