import { useCallback, useMemo } from 'preact/hooks';
import { toTime } from '../format.ts';
import { place } from '../router.ts';
import { text } from '../strings/index.ts';
import { type Column, sortRows, Table } from '../ui/table.tsx';
import type { Task } from './calls.ts';
import { PriorityChoice, StatusChoice, TaskActions, type TaskProps, Title } from './controls.tsx';
import { priorities, statuses } from './filter.ts';
import type { TaskList } from './list.ts';

const words = text.tasks;

const createColumns = (list: TaskList): Column<Task>[] => [
  { key: 'id', title: words.id, width: '5.5rem', align: 'end', cell: ({ Id: id }) => id, sortBy: ({ Id: id }) => id },
  {
    key: 'title',
    title: words.title,
    cell: (task) => <Title task={task} list={list} />,
    sortBy: ({ Title: title }) => title,
  },
  {
    key: 'priority',
    title: words.priority,
    width: '7.5rem',
    cell: (task) => <PriorityChoice task={task} list={list} />,
    sortBy: ({ Priority: priority }) => priorities.indexOf(priority),
  },
  {
    key: 'status',
    title: words.status,
    width: '8.75rem',
    cell: (task) => <StatusChoice task={task} list={list} />,
    sortBy: ({ Status: status }) => statuses.indexOf(status),
  },
  {
    key: 'created',
    title: words.createdAt,
    isMinor: true,
    width: 'clamp(6rem, 11vw, 9.5rem)',
    cell: (task) => <Time at={task.CreatedAt} />,
    sortBy: ({ CreatedAt: created }) => created,
  },
  { key: 'actions', title: words.actions, width: '8.25rem', cell: (task) => <TaskActions task={task} list={list} /> },
];

const Time = ({ at }: { at: string }) => <time dateTime={at}>{toTime(new Date(at))}</time>;

const Compact = ({ task, list }: TaskProps) => (
  <div class="two-lines">
    <Title task={task} list={list} />
    <div class="task-line">
      <PriorityChoice task={task} list={list} />
      <StatusChoice task={task} list={list} />
      <TaskActions task={task} list={list} />
    </div>
  </div>
);

/** Tasks in rows whose fields are edited in their places. */
export const TaskTable = ({ tasks, list }: { tasks: readonly Task[]; list: TaskList }) => {
  const columns = useMemo(() => createColumns(list), [list]);
  const compact = useCallback((task: Task) => <Compact task={task} list={list} />, [list]);
  const { sort } = place.value.params;
  const rows = useMemo(() => sortRows(tasks, columns), [tasks, columns, sort]);
  return (
    <Table
      label={text.titles.tasks}
      columns={columns}
      rows={rows}
      rowKey={({ Id: id }) => id}
      heights={[38, 72]}
      rowClass={({ Status: status }) => (status === 'Completed' || status === 'Cancelled' ? 'done' : '')}
      compact={compact}
    />
  );
};
