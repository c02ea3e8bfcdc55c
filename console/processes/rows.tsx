import { toBytes, toCount, toPercent, toTime } from '../format.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { type Column, sortRows, Table } from '../ui/table.tsx';
import type { Process } from './readings.ts';

const words = text.processes;

/** Maximum number of characters of a name in the table. A pinned process shows the full name. */
const mostShown = 200;

export const toCpu = (cpu: number | null): string => (cpu === null ? '–' : toPercent(cpu * 100));

/** Formats the CPU share, with a placeholder until the second reading. */
const toShare = ({ cpu, cpuSeconds }: Process) =>
  cpu === null && cpuSeconds !== null ? <span class="bone share" title={words.measuring} /> : toCpu(cpu);

/** Reads the PID of the pinned process from the URL. */
export const readPinned = (): string | undefined => place.value.params['pin'] || undefined;

const PinButton = ({ name, pid }: Process) => {
  const isPinned = readPinned() === String(pid);
  return (
    <button
      type="button"
      class="quiet pin"
      aria-pressed={isPinned}
      aria-label={words.pin(name.slice(0, mostShown), pid)}
      onClick={() => setParams({ pin: isPinned ? undefined : String(pid) })}
    >
      <Icon name="pin" />
    </button>
  );
};

const Name = ({ name }: Process) => <bdi title={name}>{name.slice(0, mostShown)}</bdi>;

const Started = ({ startedAt }: Process) =>
  startedAt ? <time dateTime={startedAt}>{toTime(new Date(startedAt))}</time> : '–';

const columns: Column<Process>[] = [
  { key: 'pin', title: words.pinColumn, width: '3.25rem', cell: (process) => <PinButton {...process} /> },
  { key: 'name', title: words.name, cell: (process) => <Name {...process} />, sortBy: ({ name }) => name },
  {
    key: 'user',
    title: words.user,
    width: 'clamp(5rem, 9vw, 9rem)',
    cell: ({ user }) => (user ? <bdi title={user}>{user.slice(0, mostShown)}</bdi> : '–'),
    sortBy: ({ user }) => user ?? '',
  },
  { key: 'pid', title: words.pid, width: '5.5rem', align: 'end', cell: ({ pid }) => pid, sortBy: ({ pid }) => pid },
  {
    key: 'cpu',
    title: words.cpu,
    width: '6.5rem',
    align: 'end',
    cell: toShare,
    sortBy: ({ cpu }) => cpu ?? -1,
  },
  {
    key: 'memory',
    title: words.memory,
    width: '7.5rem',
    align: 'end',
    cell: ({ memoryBytes }) => toBytes(memoryBytes),
    sortBy: ({ memoryBytes }) => memoryBytes,
  },
  {
    key: 'threads',
    title: words.threads,
    width: '6.5rem',
    align: 'end',
    isMinor: true,
    cell: ({ threads = null }) => (threads === null ? '–' : toCount(threads)),
    sortBy: ({ threads }) => threads ?? -1,
  },
  {
    key: 'started',
    title: words.started,
    width: 'clamp(6.5rem, 12vw, 10.5rem)',
    align: 'end',
    cell: (process) => <Started {...process} />,
    sortBy: ({ startedAt }) => Date.parse(startedAt ?? '') || 0,
  },
];

const toCompact = (process: Process) => (
  <div class="process-lines">
    <PinButton {...process} />
    <div class="two-lines">
      <span class="one-line">
        <Name {...process} />
      </span>
      <span class="one-line hint">
        {words.pid} {process.pid} ·{' '}
        {process.user && (
          <>
            <bdi>{process.user}</bdi> ·{' '}
          </>
        )}{' '}
        {words.cpu} {toShare(process)} · {toBytes(process.memoryBytes)}
      </span>
    </div>
  </div>
);

/** Table of processes, sorted as in the URL. */
export const ProcessTable = ({ processes }: { processes: readonly Process[] }) => (
  <Table
    label={text.titles.processes}
    columns={columns}
    rows={sortRows(processes, columns)}
    rowKey={({ pid, startedAt }) => `${pid} ${startedAt}`}
    compact={toCompact}
    rowClass={({ pid }) => (String(pid) === readPinned() ? 'chosen' : '')}
  />
);
