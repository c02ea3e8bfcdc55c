import type { HostHistory } from 'signalbox/client';
import { client } from '../api.ts';
import { toBytes, toCount, toPercent, toShortNumber, toWholeBytes } from '../format.ts';
import { createAddressChoice } from '../list-address.ts';
import { useRereading } from '../live/rereading.ts';
import { useResource } from '../live/resource.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { Chart } from '../ui/chart.tsx';
import type { PlotData } from '../ui/plot.ts';

type Range = keyof typeof words.ranges;

/** Length and step of each range, in seconds. */
const ranges = {
  minutes: { seconds: 600, step: 10 },
  hour: { seconds: 3600, step: 10 },
  day: { seconds: 86_400, step: 60 },
  week: { seconds: 7 * 86_400, step: 600 },
  quarter: { seconds: 90 * 86_400, step: 600 },
} as const satisfies Record<Range, { seconds: number; step: number }>;

const rangeChoice = createAddressChoice('range', Object.keys(ranges) as Range[], 'hour');

/** Milliseconds between two requests for the readings or processes of a host. */
export const hostRereadMs = 10_000;

/** Charts of a host's readings in the selected range. */
export const HistoryCharts = ({ name }: { name: string }) => {
  const range = rangeChoice.read();
  const { seconds, step } = ranges[range];
  const load = (signal: AbortSignal) => {
    const from = new Date(Date.now() - seconds * 1000).toISOString();
    return client.getHostHistory({ name, from, step }, { signal });
  };
  const resource = useResource(load, { key: `${name} ${range}` });
  useRereading(resource, hostRereadMs);
  const history = resource.value;
  return (
    <>
      <AddressSegments label={words.range} choice={rangeChoice} labels={words.ranges} />
      <div class="charts">
        {charts.map(({ title, list, isMinor, ...rest }) => {
          const lines = history ? list(history) : [];
          // Machines without sensors or swap have no such chart.
          if (isMinor && !lines.some(([, values]) => values.some((value) => value !== null))) return null;
          return <Chart key={title} title={title} data={history && toPlot(history, lines, rest)} />;
        })}
      </div>
    </>
  );
};

type Values = (number | null)[];
type Line = readonly [label: string, values: Values];

interface HostChart extends Pick<PlotData, 'top' | 'format' | 'isBytes' | 'axis'> {
  title: string;
  /** Lines of the chart, at most four. */
  list(history: HostHistory): Line[];
  /** True for a chart that is shown only if it has values. */
  isMinor?: boolean;
}

const share = { top: 100, format: toPercent, axis: (value: number) => `${toCount(value)} %` };
const traffic = { isBytes: true, format: (value: number) => `${toBytes(value)}/s`, axis: toWholeBytes };

const toShares = (used: Values, total: Values): Values =>
  used.map((value, index) => {
    const whole = total[index];
    return value === null || !whole ? null : (value / whole) * 100;
  });

/** Lists disks with values in the range, fullest first. */
const listDisks = ({ disks }: HostHistory): Line[] =>
  disks
    .map(({ mountPath, used, total }): Line => [mountPath, toShares(used, total)])
    .filter(([, values]) => values.some((value) => value !== null))
    .toSorted(([, one], [, other]) => lastOf(other) - lastOf(one))
    .slice(0, 4);

const lastOf = (values: Values): number => values.findLast((value) => value !== null) ?? 0;

const charts: readonly HostChart[] = [
  { title: words.cpu, list: ({ cpu }) => [[words.cpu, cpu.map((value) => value && value * 100)]], ...share },
  {
    title: words.memory,
    list: ({ memoryUsed, memoryTotal }) => [[words.memory, toShares(memoryUsed, memoryTotal)]],
    ...share,
  },
  {
    title: words.network,
    list: ({ networkReceived, networkSent }) => [
      ['↓', networkReceived],
      ['↑', networkSent],
    ],
    ...traffic,
  },
  { title: words.load, list: ({ load }) => [[words.load, load]], format: toShortNumber },
  { title: words.diskUse, list: listDisks, ...share },
  {
    title: words.diskTraffic,
    list: ({ diskRead, diskWritten }) => [
      [words.read, diskRead],
      [words.written, diskWritten],
    ],
    ...traffic,
  },
  {
    title: words.pressure,
    list: ({ pressureCpu, pressureMemory, pressureIo }) => [
      [words.cpu, pressureCpu],
      [words.memory, pressureMemory],
      [words.disk, pressureIo],
    ],
    isMinor: true,
    ...share,
  },
  {
    title: words.temperature,
    list: ({ temperature }) => [[words.temperature, temperature]],
    isMinor: true,
    format: (value) => words.celsius(toShortNumber(value)),
  },
  {
    title: words.swap,
    list: ({ swapUsed }) => [[words.swap, swapUsed.some((value) => value) ? swapUsed : []]],
    isMinor: true,
    isBytes: true,
    format: toBytes,
    axis: toWholeBytes,
  },
  {
    title: words.processCount,
    list: ({ processCount }) => [[words.processCount, processCount]],
    isMinor: true,
    format: toCount,
  },
];

const toPlot = (
  { start, step, count }: HostHistory,
  lines: readonly Line[],
  rest: Pick<PlotData, 'top' | 'format' | 'isBytes' | 'axis'>,
): PlotData | undefined => {
  if (count < 2 || lines.length === 0) return undefined;
  const first = Date.parse(start) / 1000;
  const times = Array.from({ length: count }, (_, index) => first + index * step);
  const series = lines.map(([label, values], index) => ({ label, color: `--series-${index + 1}`, values }));
  return { times, series, from: first, to: first + (count - 1) * step, kind: 'lines', ...rest };
};
