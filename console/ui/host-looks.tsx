import type { Host } from 'signalbox/client';
import { toPercent } from '../format.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { Chip, type Look } from './chip.tsx';
import { Spark } from './spark.tsx';

export const hostLooks: Record<Host['state'], Look> = {
  silent: { tone: 'critical', icon: 'critical' },
  late: { tone: 'warning', icon: 'clock' },
  new: { tone: 'quiet', icon: 'clock' },
  stopped: { tone: 'quiet', icon: 'pause' },
  up: { tone: 'good', icon: 'check' },
};

/** State of a host, in words and in its colour. */
export const HostChip = ({ state }: Pick<Host, 'state'>) => <Chip {...hostLooks[state]}>{words.states[state]}</Chip>;

type Usage = number | null | undefined;

/** Returns a host's usage as shares from 0 to 1. Undefined if unknown. */
export const toShares = ({ readings }: Pick<Host, 'readings'>): { cpu: Usage; memory: Usage; disk: Usage } => {
  const { cpu, memoryUsed, memoryTotal, disks = [] } = readings ?? {};
  const full = disks.filter(({ total }) => total > 0).map(({ used, total }) => used / total);
  return {
    cpu,
    memory: typeof memoryUsed === 'number' && memoryTotal ? memoryUsed / memoryTotal : undefined,
    disk: full.length > 0 ? Math.max(...full) : undefined,
  };
};

/** Bar with its percentage, or a dash if unknown. */
export const Meter = ({ label, share }: { label: string; share: Usage }) => {
  if (typeof share !== 'number') return <span class="hint">–</span>;
  const percent = Math.min(100, share * 100);
  return (
    <span class="meter-cell">
      <meter min="0" max="100" high={90} value={percent} aria-label={`${label}: ${toPercent(percent)}`} />
      <span>{toPercent(percent)}</span>
    </span>
  );
};

/** CPU usage of a host in the last hour. */
export const HourLine = ({ line, readings }: Pick<Host, 'line' | 'readings'>) => {
  const values = line.cpu.map((value) => value && value * 100);
  const { cpu } = readings ?? {};
  return (
    <Spark
      label={words.line(typeof cpu === 'number' ? toPercent(cpu * 100) : '–')}
      values={values}
      bad={values.map(() => false)}
      limits={[]}
      top={100}
      isStrip={false}
    />
  );
};
