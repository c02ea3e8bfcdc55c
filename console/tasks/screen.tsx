import { toCount } from '../format.ts';
import { goTo, place } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { NoRows } from '../ui/filter-bar.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Failure, Skeleton } from '../ui/panel.tsx';
import { Board } from './board.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { leaving } from './deletion.ts';
import { TaskDialog } from './details.tsx';
import { isBoard, readFilters, taskFilter, viewChoice } from './filter.ts';
import { TaskFilters } from './filters.tsx';
import { type LiveTasks, useTaskList } from './list.ts';
import { NewTaskDialog } from './new-task.tsx';
import { TaskTable } from './rows.tsx';

const words = text.tasks;

const openNew = (): void => goTo('/tasks/new', place.value.params);
const close = (): void => goTo('/tasks', place.value.params);

/** Tasks as a table or board. A task, or the form for a new task, opens in a dialog. */
const TasksScreen = ({ rest }: { rest: string }) => {
  const list = useTaskList(readFilters());
  useCommands([{ title: words.create, icon: 'plus', run: openNew }]);
  const states = list.pages.map(({ state }) => state.value);
  const failed = states.find(({ error, tasks }) => error && !tasks);
  if (failed?.error) return <Failure error={failed.error} onRetry={list.retry} />;
  return (
    <div class="tasks">
      <TaskFilters />
      {states.some(({ tasks }) => !tasks) ? <Skeleton lines={16} /> : <Body list={list} />}
      {rest === 'new' && <NewTaskDialog list={list} onClose={close} />}
      {rest && rest !== 'new' && <TaskDialog id={rest} list={list} onClose={close} />}
      <ConflictDialog />
    </div>
  );
};

/** Controls next to the heading: new task, and table or board. */
const TaskControls = () => (
  <div class="actions">
    <AddressSegments label={words.view} choice={viewChoice} labels={words} />
    <IconButton icon="plus" kind="primary" label={words.create} onClick={openNew} />
  </div>
);

const Body = ({ list }: { list: LiveTasks }) => {
  const states = list.pages.map(({ state }) => state.value);
  const loaded = states.flatMap(({ tasks = [] }) => tasks);
  const hidden = loaded.filter(({ Id: id }) => leaving.value.has(id)).length;
  const total = states.reduce((sum, each) => sum + each.total, 0) - hidden;
  const isLoading = states.some((each) => each.isLoading);
  const isEmpty = !isLoading && loaded.length === hidden;
  const error = states.find((each) => each.error)?.error;
  return (
    <>
      <ListCount>
        {isLoading && total <= 0 ? words.searching : words.shown(toCount(loaded.length - hidden), toCount(total))}
      </ListCount>
      {error && <Failure error={error} onRetry={list.retry} />}
      {isEmpty && !isBoard() && <NoRows filter={taskFilter} words={words} />}
      {isBoard() ? <Board list={list} /> : list.pages[0] && !isEmpty && <TaskTable pages={list.pages[0]} list={list} />}
    </>
  );
};

export const tasksView: ScreenView = { Screen: TasksScreen, Aside: TaskControls };
