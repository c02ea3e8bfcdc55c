import { useSignal } from '@preact/signals';
import { useId, useMemo, useRef } from 'preact/hooks';
import type { TaskStatus as Status, Task } from 'signalbox/client';
import { toCount } from '../format.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { Pure } from '../ui/pure.ts';
import { useRowFocus } from '../ui/row-focus.ts';
import { listPieces, useVirtualRows } from '../ui/virtual.ts';
import { choose } from './actions.ts';
import { MoveChoice, TaskActions, type TaskProps, Title } from './controls.tsx';
import { leaving } from './deletion.ts';
import { taskStatuses } from './filter.ts';
import type { LiveTasks } from './list.ts';
import { looks } from './looks.ts';
import { MoreTasks } from './rows.tsx';

const words = text.tasks;

/** Height in pixels of a card whose title has two lines, including the gap below. Matches style/board.css. */
const cardHeight = 98;

const dragged = 'application/x-signalbox-task';

/** Board with a column per status. A card can be moved by dragging or with its button. */
export const Board = ({ list }: { list: LiveTasks }) => (
  <div class="board">
    {taskStatuses.map((status) => (
      <BoardColumn key={status} status={status} list={list} />
    ))}
  </div>
);

const none: readonly Task[] = [];

const BoardColumn = ({ status, list }: { status: Status; list: LiveTasks }) => {
  const id = useId();
  const cards = useRef<HTMLUListElement>(null);
  const isOver = useSignal(false);
  const pages = list.pages.find(({ filter }) => filter.status === status);
  const { tasks: loaded = none, total = 0, isLoading = false } = pages?.state.value ?? {};
  const gone = leaving.value;
  const tasks = useMemo(() => loaded.filter(({ Id: each }) => !gone.has(each)), [loaded, gone]);
  const range = useVirtualRows(cards, tasks.length, cardHeight);
  const ids = useMemo(() => tasks.map(({ Id: each }) => each), [tasks]);
  const { focused, handlers } = useRowFocus(cards, ids);
  const drop = (event: DragEvent) => {
    isOver.value = false;
    const moved = list.find(Number(event.dataTransfer?.getData(dragged)));
    if (!moved) return;
    event.preventDefault();
    if (moved.Status !== status) void choose(list, moved, { Status: status });
  };
  return (
    <section
      class={`column ${isOver.value ? 'over' : ''}`}
      aria-labelledby={id}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes(dragged)) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={drop}
    >
      <h2 id={id}>
        <Chip {...looks[status]}>{words.statuses[status]}</Chip>{' '}
        <span class="hint">{toCount(total - loaded.length + tasks.length)}</span>
      </h2>
      {tasks.length === 0 && <p class="hint">{words.emptyColumn}</p>}
      <ul ref={cards} aria-labelledby={id} {...handlers}>
        {listPieces(range, tasks.length, focused).map((piece) =>
          typeof piece === 'object' ? (
            <li key={piece.key} aria-hidden="true" style={{ height: `${piece.gap * cardHeight}px` }} />
          ) : (
            <Card key={`${ids[piece]}`} task={tasks[piece] as Task} list={list} />
          ),
        )}
      </ul>
      {pages && <MoreTasks pages={pages} isLoading={isLoading} />}
    </section>
  );
};

class Card extends Pure<TaskProps> {
  override render() {
    const { task, list } = this.props;
    return (
      <li
        class="card"
        data-row={task.Id}
        draggable
        onDragStart={({ dataTransfer }) => {
          dataTransfer?.setData(dragged, `${task.Id}`);
          dataTransfer?.setData('text/plain', task.Title);
        }}
      >
        <Title task={task} list={list} />
        <div class="task-line">
          <Chip {...looks[task.Priority]}>{words.priorities[task.Priority]}</Chip>
          <TaskActions task={task} list={list}>
            <MoveChoice task={task} list={list} />
          </TaskActions>
        </div>
      </li>
    );
  }
}
