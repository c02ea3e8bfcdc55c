import { useCallback, useMemo } from 'preact/hooks';
import type { Task } from 'signalbox/client';
import { toCount, toTime } from '../format.ts';
import { place } from '../router.ts';
import { text } from '../strings/index.ts';
import { More } from '../ui/more.tsx';
import { type Column, sortRows, Table } from '../ui/table.tsx';
import { fromServer } from '../zone.ts';
import { PriorityChoice, StatusChoice, TaskActions, type TaskProps, Title } from './controls.tsx';
import { leaving } from './deletion.ts';
import { taskPriorities, taskStatuses } from './filter.ts';
import type { LiveTasks } from './list.ts';
import type { TaskPages } from './pages.ts';

const words = text.tasks;

const createColumns = (list: LiveTasks): Column<Task>[] => [
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
    width: '8rem',
    cell: (task) => <PriorityChoice task={task} list={list} />,
    sortBy: ({ Priority: priority }) => taskPriorities.indexOf(priority),
  },
  {
    key: 'status',
    title: words.status,
    width: '9.5rem',
    cell: (task) => <StatusChoice task={task} list={list} />,
    sortBy: ({ Status: status }) => taskStatuses.indexOf(status),
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

const Time = ({ at }: { at: string }) => <time dateTime={at}>{toTime(fromServer(at))}</time>;

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

/**
 * Table of tasks with fields that can be edited in place. The server sorts newest first. Other orders require all tasks
 * to be loaded.
 */
export const TaskTable = ({ pages, list }: { pages: TaskPages; list: LiveTasks }) => {
  const { tasks = [], isLoading } = pages.state.value;
  const isWhole = !pages.hasMore();
  const columns = useMemo(
    () => createColumns(list).map(({ sortBy, ...column }) => (isWhole && sortBy ? { ...column, sortBy } : column)),
    [list, isWhole],
  );
  const compact = useCallback((task: Task) => <Compact task={task} list={list} />, [list]);
  const { sort } = place.value.params;
  const gone = leaving.value;
  const rows = useMemo(
    () => sortRows(gone.size > 0 ? tasks.filter(({ Id: id }) => !gone.has(id)) : tasks, columns),
    [tasks, columns, sort, gone],
  );
  return (
    <>
      {sort && !isWhole && <p class="note">{words.partlySorted}</p>}
      <Table
        label={text.titles.tasks}
        columns={columns}
        rows={rows}
        rowKey={({ Id: id }) => id}
        heights={[38, 72]}
        rowClass={({ Status: status }) => (status === 'Completed' || status === 'Cancelled' ? 'done' : '')}
        compact={compact}
      />
      <MoreTasks pages={pages} isLoading={isLoading} />
    </>
  );
};

/** End of a list: a link to the next page, or the reason why there is no next page. */
export const MoreTasks = ({ pages, isLoading }: { pages: TaskPages; isLoading: boolean }) => {
  const { tasks = [], total } = pages.state.value;
  if (!pages.hasMore() && tasks.length < total) return <p class="hint">{words.full(toCount(tasks.length))}</p>;
  return <More label={words.older} isLoading={isLoading} isEnd={!pages.hasMore()} onMore={pages.readMore} />;
};
