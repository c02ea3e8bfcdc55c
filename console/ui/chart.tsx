import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { toClock } from '../format.ts';
import { isDark } from '../preferences.ts';
import { text } from '../strings/index.ts';
import { zone } from '../zone.ts';
import type { Plot, PlotData, Series } from './plot.ts';
import { notify } from './toast.tsx';

interface Props {
  title: string;
  data: PlotData | undefined;
  /** Content next to the title. */
  aside?: ComponentChildren;
}

/** Chart of time series with legend and readings. Screen readers get one sentence per series. */
export const Chart = ({ title, data, aside }: Props) => {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const index = useSignal<number | null>(null);
  const id = useId();
  const latest = useRef(data);
  latest.current = data;
  const names = data?.series.map(({ label, color }) => label + color).join();
  useEffect(() => {
    const place = element.current;
    if (!place || !data) return;
    let isGone = false;
    const observer = new ResizeObserver(() => plot.current?.resize(place.clientWidth));
    loadPlot().then(({ createPlot }) => {
      if (isGone) return;
      // The data may have changed while the library was loading.
      plot.current = createPlot(place, latest.current ?? data, (at) => {
        index.value = at;
      });
      observer.observe(place);
    }, onMissing);
    return () => {
      isGone = true;
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names, isDark.value, zone.value, data === undefined]);
  useEffect(() => {
    if (data) plot.current?.update(data);
  }, [data]);
  return (
    <figure class={`chart ${data?.kind ?? ''}`} aria-labelledby={id}>
      <figcaption>
        <h2 id={id}>{title}</h2>
        {aside}
        <Readings data={data} index={index.value} />
      </figcaption>
      <div ref={element} class="plot" aria-hidden="true">
        {!data && <p class="hint">{text.overview.collecting}</p>}
      </div>
      {data?.series.map((each) => (
        <p key={each.label} class="unseen">
          {summarize(each, data)}
        </p>
      ))}
    </figure>
  );
};

/** Values at the crosshair. Without a crosshair, the last values of lines and the sums of bars. Omits empty bars. */
const Readings = ({ data, index }: { data: PlotData | undefined; index: number | null }) => (
  <p class="readings" aria-hidden="true">
    {index !== null && <span class="hint">{toClock((data?.times[index] ?? 0) * 1000)}</span>}
    {data?.series
      .filter((each) => data.kind === 'lines' || hasValues(each))
      .map(({ label, color, values, isLimit }) => {
        const format = isLimit && data.axis ? data.axis : data.format;
        const value = index === null ? (data.kind === 'bars' ? addUp(values) : findLast(values)) : values[index];
        return (
          <span key={label} class="reading">
            <span class="swatch" style={{ background: `var(${color})` }} />
            <span class="hint">{label}</span>
            <b>{value === null || value === undefined ? '–' : format(value)}</b>
          </span>
        );
      })}
  </p>
);

const hasValues = ({ values }: Series): boolean => values.some((value) => value !== 0);

const findLast = (values: (number | null)[]): number | null => values.findLast((value) => value !== null) ?? null;

const addUp = (values: (number | null)[]): number => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

const summarize = ({ label, values, isLimit }: Series, { format, axis = format }: PlotData): string => {
  if (isLimit) return `${label}: ${axis(values[0] ?? 0)}`;
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${label}: –`;
  const [least, most] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))];
  return text.overview.summary(label, format(known.at(-1) ?? 0), format(least), format(most));
};

/** Loads the chart library with the first chart. */
const loadPlot = () => import('./plot.ts');

const onMissing = () => notify(text.errors.chart, { kind: 'failure' });
