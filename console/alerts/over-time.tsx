import { useEffect, useRef } from 'preact/hooks';
import type { AlertEntry, AlertHistogram } from 'signalbox/client';
import { severities } from '../../src/kit/severity.ts';
import { client } from '../api.ts';
import { serverNow } from '../clock.ts';
import { toCount, toShortClock, toShortDay, toTime } from '../format.ts';
import { alertMatches, toTimeOf } from '../live/alerts.ts';
import { type Resource, useResource } from '../live/resource.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { type Bar, Histogram } from '../ui/histogram.tsx';
import { Icon } from '../ui/icon.tsx';
import { Panel } from '../ui/panel.tsx';
import { toTone } from '../ui/severity.tsx';
import { ceilTime } from '../zone.ts';
import { alertFilter, readSeverity, type WindowName, windowChoice, windows } from './filter.ts';

const words = text.alerts;
const hourMs = 3_600_000;
/** First and longest wait in milliseconds between counts while the server is still indexing. */
const [firstRecount, lastRecount] = [1000, 60_000];

/**
 * Counts alerts in the chosen window. Applies all filters in the URL except severity. The server counts only once.
 * After that, the console adds new alerts itself.
 */
export const useHistogram = (): Resource<AlertHistogram> => {
  const name = windowChoice.read();
  const { source, hostname, status, q } = alertFilter.read();
  const filter = { source, hostname, status, q };
  const load = (signal: AbortSignal) => {
    const { hours, buckets } = windows[name];
    const since = new Date(serverNow() - hours * hourMs).toISOString();
    return client.countAlerts({ since, buckets, ...filter }, { signal });
  };
  const apply = (data: AlertEntry, before: AlertHistogram | undefined) =>
    alertMatches(data, filter) ? addAlert(data, before) : before;
  const histogram = useResource(load, { key: JSON.stringify({ name, filter }), topic: 'alerts', apply });
  const { value, reload } = histogram;
  const wait = useRef(firstRecount);
  useEffect(() => {
    if (value?.complete !== false) return;
    const timer = setTimeout(reload, wait.current);
    wait.current = Math.min(2 * wait.current, lastRecount);
    return () => clearTimeout(timer);
  }, [value]);
  return histogram;
};

/** Adds an alert to the histogram and moves the window forward. */
const addAlert = (data: AlertEntry, before: AlertHistogram | undefined): AlertHistogram | undefined => {
  if (!before) return before;
  const step = before.bucketSeconds * 1000;
  const at = toTimeOf(data).getTime();
  const buckets = [...before.buckets];
  let until = Date.parse(before.until);
  // A time far in the future must not move the window.
  while (until <= at && at - until < buckets.length * step) {
    buckets.push({ time: new Date(until).toISOString(), count: 0, levels: {} });
    buckets.shift();
    until += step;
  }
  const index = buckets.findLastIndex(({ time }) => Date.parse(time) <= at);
  const bucket = buckets[index];
  if (!bucket || at >= until) return before;
  const { count, levels } = bucket;
  const { severity } = data;
  buckets[index] = { ...bucket, count: count + 1, levels: { ...levels, [severity]: (levels[severity] ?? 0) + 1 } };
  return { ...before, since: buckets[0]?.time ?? before.since, until: new Date(until).toISOString(), buckets };
};

/** Returns the number of alerts per severity in the histogram. Undefined until loaded. */
export const countSeverities = (histogram: AlertHistogram | undefined): Record<string, number> | undefined => {
  if (!histogram) return undefined;
  const counts: Record<string, number> = {};
  for (const { levels } of histogram.buckets) {
    for (const [severity, count] of Object.entries(levels)) counts[severity] = (counts[severity] ?? 0) + count;
  }
  return counts;
};

export const WindowChoice = () => <AddressSegments label={words.range} choice={windowChoice} labels={words.ranges} />;

/** Histogram of alerts by severity. It also sets the time filter. */
export const OverTime = ({ histogram }: { histogram: AlertHistogram | undefined }) => {
  const { since, until } = place.value.params;
  const chosen = since || until ? { from: toMs(since, 0), to: toMs(until, Number.POSITIVE_INFINITY) } : undefined;
  const bars = histogram ? toBars(histogram, readSeverity()) : [];
  const clear = () => setParams({ since: undefined, until: undefined, before: undefined });
  const total = bars.reduce((sum, { parts }) => sum + parts.reduce((all, { count }) => all + count, 0), 0);
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
        label={words.bar(words.ranges[windowChoice.read()], toCount(total))}
        bars={bars}
        onClear={clear}
        toCount={toCount}
        chosen={chosen}
        onChoose={(from, to) =>
          setParams({ since: new Date(from).toISOString(), until: new Date(to).toISOString(), before: undefined })
        }
        ticks={listTicks(bars)}
      />
    </Panel>
  );
};

/** Hours between labels. */
const tickHours: Record<WindowName, number> = { '1h': 1 / 6, '24h': 4, '7d': 24 };

/**
 * Lists labels at round times: midnight, every fourth hour, or every ten minutes. The first label of a day includes the
 * date.
 */
const listTicks = (bars: readonly Bar[]) => {
  const hours = tickHours[windowChoice.read()];
  const ticks: { time: number; label: string }[] = [];
  const to = bars.at(-1)?.to ?? 0;
  for (let time = ceilTime(bars[0]?.from ?? 0, hours); time < to; time = ceilTime(time + 1000, hours)) {
    ticks.push({ time, label: ceilTime(time, 24) === time ? toShortDay(time) : toShortClock(time) });
  }
  return ticks;
};

const toMs = (time: string | undefined, otherwise: number): number => (time ? Date.parse(time) : otherwise);

const toWords = (time: string | undefined): string => (time ? toTime(new Date(time)) : '…');

const toBars = ({ buckets, bucketSeconds }: AlertHistogram, only: string | undefined): Bar[] =>
  buckets.map(({ time, levels }) => {
    const from = Date.parse(time);
    const counts = severities
      .filter((severity) => !only || only === severity)
      .flatMap((severity) => (levels[severity] ? [{ severity, count: levels[severity] }] : []));
    const count = counts.reduce((sum, each) => sum + each.count, 0);
    const parts = counts.map((each) => ({ color: `bar-${toTone(each.severity)}`, count: each.count }));
    const named = counts.map((each) => words.countOf(toCount(each.count), words.severities[each.severity]));
    const title = [words.bar(toTime(from), toCount(count)), ...named].join(', ');
    return { from, to: from + bucketSeconds * 1000, parts, title };
  });
