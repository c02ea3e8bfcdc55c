import { useMemo } from 'preact/hooks';
import { toCount } from '../format.ts';
import { goTo, place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Segments } from '../ui/chip.tsx';
import { Icon } from '../ui/icon.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, NoMatch, Skeleton } from '../ui/panel.tsx';
import { Board } from './board.tsx';
import type { Task } from './calls.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import { TaskDialog } from './details.tsx';
import { clearFilter, countTasks, filterTasks, hasFilter, isBoard } from './filter.ts';
import { Filters } from './filters.tsx';
import { type TaskList, useTaskList } from './list.ts';
import { NewTaskDialog } from './new-task.tsx';
import { TaskTable } from './rows.tsx';

const words = text.tasks;

const openNew = (): void => goTo('/tasks/new', place.value.params);
const close = (): void => goTo('/tasks', place.value.params);

/** Tasks as a table or a board; one task, or a new one, opens over them. */
export const TasksScreen = ({ rest }: { rest: string }) => {
  const list = useTaskList();
  useCommands([{ title: words.create, icon: 'plus', run: openNew }]);
  const { tasks, total, error } = list.state.value;
  const counts = useMemo(() => countTasks(tasks ?? []), [tasks]);
  if (error && !tasks) return <Failure error={error} onRetry={list.retry} />;
  return (
    <div class="tasks">
      <Filters counts={counts} />
      {tasks ? <Body tasks={tasks} total={total} list={list} /> : <Skeleton lines={16} />}
      {rest === 'new' && <NewTaskDialog list={list} onClose={close} />}
      {tasks && rest && rest !== 'new' && <TaskDialog id={rest} list={list} onClose={close} />}
      <ConflictDialog />
    </div>
  );
};

/** Beside the heading: a new task, table or board. */
export const TaskControls = () => (
  <div class="actions">
    <Segments
      label={words.view}
      value={isBoard() ? 'board' : 'table'}
      options={[
        ['table', words.table],
        ['board', words.board],
      ]}
      onValue={(view) => setParams({ view: view === 'board' ? view : undefined })}
    />
    <button type="button" class="primary" onClick={openNew}>
      <Icon name="plus" /> {words.create}
    </button>
  </div>
);

const Body = ({ tasks, total, list }: { tasks: readonly Task[]; total: number; list: TaskList }) => {
  const { status, priority, q } = place.value.params;
  const shown = useMemo(() => filterTasks(tasks), [tasks, status, priority, q]);
  return (
    <>
      <p class="hint" role="status">
        {words.shown(toCount(shown.length), toCount(tasks.length))}
        {total > tasks.length && ` ${words.limited(toCount(tasks.length), toCount(total))}`}
      </p>
      {shown.length === 0 && !isBoard() && <NoTasks />}
      {isBoard() ? <Board tasks={shown} list={list} /> : shown.length > 0 && <TaskTable tasks={shown} list={list} />}
    </>
  );
};

const NoTasks = () =>
  hasFilter() ? (
    <NoMatch title={words.noMatch} hint={words.noMatchHint} onClear={clearFilter} />
  ) : (
    <Empty title={words.empty} hint={words.emptyHint} />
  );
