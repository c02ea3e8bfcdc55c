import type { Execution } from 'signalbox/client';
import { toCount, toTime } from '../format.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Chip, type Look } from '../ui/chip.tsx';
import { type Column, sortRows, Table } from '../ui/table.tsx';
import { type Result, toExecutionLine, toResult } from './filter.ts';

const words = text.audit;

/** Maximum number of characters in a cell. The dialog shows the full text. */
const mostShown = 300;

const looks: Record<Result, Look> = {
  ok: { tone: 'good', icon: 'check' },
  refused: { tone: 'warning', icon: 'warning' },
  failed: { tone: 'error', icon: 'error' },
  'timed-out': { tone: 'error', icon: 'error' },
  abandoned: { tone: 'quiet', icon: 'other' },
  'not-started': { tone: 'quiet', icon: 'other' },
};

export const ResultChip = ({ execution }: { execution: Execution }) => {
  const result = toResult(execution);
  return <Chip {...looks[result]}>{words.results[result]}</Chip>;
};

const Time = ({ time }: Execution) => <time dateTime={time}>{toTime(new Date(time))}</time>;

const Command = (execution: Execution) => (
  <a href={toHash(`/audit/${encodeURIComponent(execution.requestId)}`, place.value.params)}>
    <bdi>{toExecutionLine(execution).slice(0, mostShown)}</bdi>
  </a>
);

const columns: Column<Execution>[] = [
  {
    key: 'time',
    title: words.time,
    width: 'clamp(7rem, 12vw, 10rem)',
    cell: Time,
    sortBy: ({ time }) => Date.parse(time),
  },
  {
    key: 'user',
    title: words.user,
    width: 'clamp(5rem, 10vw, 9rem)',
    cell: ({ user }) => (user === null ? <span class="hint">{words.noUser}</span> : <bdi>{user}</bdi>),
    sortBy: ({ user }) => user ?? '',
  },
  {
    key: 'result',
    title: words.result,
    width: '8rem',
    cell: (execution) => <ResultChip execution={execution} />,
    sortBy: toResult,
  },
  { key: 'command', title: words.command, cell: Command, sortBy: toExecutionLine },
  {
    key: 'reason',
    title: words.reason,
    width: 'clamp(6rem, 24vw, 24rem)',
    cell: ({ reason }) => <bdi class="hint">{reason?.slice(0, mostShown)}</bdi>,
  },
  {
    key: 'duration',
    title: words.duration,
    width: '6.5rem',
    align: 'end',
    isMinor: true,
    cell: ({ durationMs }) => toExecutionTime(durationMs),
    sortBy: ({ durationMs }) => durationMs ?? -1,
  },
];

export const toExecutionTime = (value: number | null): string =>
  value === null ? '–' : words.milliseconds(toCount(value));

const toCompact = (execution: Execution) => (
  <div class="two-lines">
    <div>
      <ResultChip execution={execution} />
      <span class="hint one-line">
        <Time {...execution} /> · <bdi>{execution.user ?? words.noUser}</bdi>
      </span>
    </div>
    <span class="one-line">
      <Command {...execution} />
    </span>
  </div>
);

/** Table of commands, sorted as in the URL. */
export const ExecutionTable = ({ executions }: { executions: readonly Execution[] }) => (
  <Table
    label={text.titles.audit}
    columns={columns}
    rows={sortRows(executions, columns)}
    rowKey={({ requestId, time }) => `${requestId} ${time}`}
    compact={toCompact}
  />
);
