import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { shorten, toBytes, toDuration, toFull, toWholeBytes } from '../format.ts';
import { setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Chart } from '../ui/chart.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty, Panel } from '../ui/panel.tsx';
import type { PlotData } from '../ui/plot.ts';
import type { Process, Reading } from './readings.ts';
import { toCpu } from './rows.tsx';

const words = text.processes;

/** Time span of the chart in seconds. */
const span = 600;

interface Sample {
  /** Seconds since 1970. */
  time: number;
  process: Process;
}

interface Props {
  pid: string;
  reading: Reading;
}

/** Charts of the last 10 minutes of a pinned process. They remain after the process has ended. */
export const Pinned = ({ pid, reading }: Props) => {
  const samples = useSignal<Sample[]>([]);
  const process = reading.processes.find((each) => String(each.pid) === pid);
  useEffect(() => {
    const time = reading.time / 1000;
    const last = samples.value.at(-1);
    if (!process || (last && time - last.time < 1)) return;
    const kept = samples.value.filter((sample) => sample.time > time - span && sample.process.name === process.name);
    samples.value = [...kept, { time, process }];
  }, [reading]);
  const shown = process ?? samples.value.at(-1)?.process;
  if (!shown) {
    return (
      <Empty title={words.missing(pid)}>
        <Unpin />
      </Empty>
    );
  }
  const name = shorten(shown.name, 60);
  return (
    <Panel title={words.pinned} aside={<Unpin />} kind="pinned">
      {!process && <p role="status">{words.ended}</p>}
      <dl class="facts">
        {toFacts(shown).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <LongText value={value} most={200} />
            </dd>
          </div>
        ))}
      </dl>
      <div class="charts">
        <Chart
          title={words.cpu}
          data={toData(samples.value, name, ({ cpu }) => cpu, { color: '--series-1', format: toCpu })}
        />
        <Chart
          title={words.memory}
          data={toData(samples.value, name, ({ memoryBytes }) => memoryBytes, {
            color: '--series-2',
            format: toBytes,
            axis: toWholeBytes,
            isBytes: true,
          })}
        />
      </div>
    </Panel>
  );
};

const Unpin = () => <IconButton icon="close" label={words.unpin} onClick={() => setParams({ pin: undefined })} />;

const toFacts = ({ name, pid, user, parentPid, cpuSeconds, startedAt }: Process): [string, string][] => [
  [words.name, name],
  [words.pid, String(pid)],
  ...(user ? [[words.user, user] as [string, string]] : []),
  ...(typeof parentPid !== 'number' ? [] : [[words.parent, String(parentPid)] as [string, string]]),
  [words.started, startedAt ? toFull(new Date(startedAt)) : words.unknown],
  [words.cpuTime, cpuSeconds === null ? words.unknown : toDuration(cpuSeconds)],
];

const toData = (
  samples: Sample[],
  label: string,
  read: (process: Process) => number | null,
  { color, ...rest }: Pick<PlotData, 'format' | 'axis' | 'isBytes'> & { color: string },
): PlotData | undefined => {
  const to = samples.at(-1)?.time ?? 0;
  if (samples.length < 2) return undefined;
  const series = [{ label, color, values: samples.map(({ process }) => read(process)) }];
  const from = Math.min(samples[0]?.time ?? to, to - span / 2);
  return { times: samples.map(({ time }) => time), series, from, to, kind: 'lines', ...rest };
};
