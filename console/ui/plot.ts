import UPlot from 'uplot';
import { toShortClock } from '../format.ts';
import { zone } from '../zone.ts';

export interface Series {
  label: string;
  /** CSS custom property that contains the colour, such as `--series-1`. */
  color: string;
  values: (number | null)[];
  /** True for a limit. A limit is constant. */
  isLimit?: boolean;
}

export interface PlotData {
  /** Seconds since 1970, ascending. */
  times: number[];
  series: Series[];
  /** Time range to show, in seconds. */
  from: number;
  to: number;
  /** Lines or stacked bars. */
  kind: 'lines' | 'bars';
  /** Maximum of the axis. By default, based on the values. */
  top?: number | undefined;
  format: (value: number) => string;
  /** True for values in bytes. The axis then uses steps that are powers of two. */
  isBytes?: boolean;
  /** Short format for the axis. */
  axis?: (value: number) => string;
}

export interface Plot {
  update(data: PlotData): void;
  resize(width: number): void;
  destroy(): void;
}

const height = 132;

/**
 * Draws time series into an element. All plots on a page share a crosshair. `onIndex` receives the index at the
 * crosshair.
 */
export const createPlot = (element: HTMLElement, first: PlotData, onIndex: (index: number | null) => void): Plot => {
  let data = first;
  const color = (name: string) => readColor(element, name);
  const axis = { stroke: color('--quiet'), font: '11px system-ui, sans-serif', gap: 4 };
  const lines = { grid: { stroke: color('--line'), width: 1 }, ticks: { show: false }, border: { show: false } };
  const plot = new UPlot(
    {
      width: element.clientWidth,
      height,
      tzDate: (at) => UPlot.tzDate(new Date(at * 1000), zone.peek()),
      padding: [8, 26, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: 'console', scales: ['x', null] },
        drag: { x: false, y: false },
        y: false,
        points: { size: 6 },
      },
      scales: {
        x: { time: true, range: () => [data.from, data.to] },
        y: {
          range: (_, __, most) => [0, data.top ?? Math.max(data.kind === 'bars' ? 4 : 0, niceTop(most, data.isBytes))],
        },
      },
      axes: [
        { ...axis, ...lines, size: 20, space: 70, values: (_, splits) => splits.map((at) => toShortClock(at * 1000)) },
        {
          ...axis,
          ...lines,
          size: toAxisWidth,
          space: 32,
          ...(first.isBytes && { incrs: powersOfTwo }),
          ...(first.kind === 'bars' && { incrs: wholeSteps }),
          values: (_, splits) => splits.map(data.axis ?? data.format),
        },
      ],
      series: [
        {},
        ...first.series.map(({ color: name, isLimit }) => toSeries(isLimit ? 'limit' : first.kind, color(name))),
      ],
      hooks: { setCursor: [({ cursor }) => onIndex(cursor.idx ?? null)] },
    },
    toColumns(first),
    element,
  );
  return {
    update: (next) => {
      data = next;
      plot.setData(toColumns(next));
    },
    resize: (width) => plot.setSize({ width, height }),
    destroy: () => plot.destroy(),
  };
};

const toSeries = (kind: PlotData['kind'] | 'limit', stroke: string): UPlot.Series => {
  const points = { show: false };
  if (kind === 'limit') return { stroke, width: 1, dash: [5, 4], points };
  if (kind === 'lines') return { stroke, width: 1.5, fill: `color-mix(in srgb, ${stroke} 10%, transparent)`, points };
  return { fill: stroke, stroke, width: 0, points, ...withPaths(UPlot.paths.bars?.({ size: [0.8, 24], align: 1 })) };
};

const withPaths = (paths: UPlot.Series.PathBuilder | undefined) => (paths ? { paths } : {});

/**
 * Computes cumulative sums for stacked bars. Bars are drawn from the total down, so each bar covers part of the bar
 * behind it.
 */
const toColumns = ({ times, series, kind }: PlotData): UPlot.AlignedData => {
  if (kind === 'lines') return [times, ...series.map(({ values }) => values)];
  const sums = series.map(({ values }) => values.map((value) => value ?? 0));
  for (let index = sums.length - 2; index >= 0; index -= 1) {
    const below = sums[index + 1];
    sums[index] = sums[index]?.map((value, at) => value + (below?.[at] ?? 0)) ?? [];
  }
  return [times, ...sums];
};

/** Whole axis steps for counts. */
const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

const powersOfTwo = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Returns a round number at least as large as the largest value. */
const niceTop = (most: number | null, isBytes = false): number => {
  if (most === null || most <= 0) return 1;
  if (isBytes) return 2 ** Math.ceil(Math.log2(most));
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= most) ?? 10) * power;
};

/** Reads the colour of a custom property in the current theme. A canvas cannot resolve custom properties. */
const readColor = (element: HTMLElement, name: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** Returns the approximate width in pixels of the longest axis label. */
const toAxisWidth = (_: unknown, labels: readonly string[] | null): number =>
  Math.max(52, 10 + 6 * Math.max(0, ...(labels ?? []).map(({ length }) => length)));
