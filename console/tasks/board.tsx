import { useSignal } from '@preact/signals';
import { useId, useMemo, useRef } from 'preact/hooks';
import { toCount } from '../format.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { Pure } from '../ui/pure.ts';
import { useRecycledKeys, useVirtualRows } from '../ui/virtual.ts';
import { choose } from './actions.ts';
import type { Status, Task } from './calls.ts';
import { MoveChoice, TaskActions, type TaskProps, Title } from './controls.tsx';
import { statuses } from './filter.ts';
import type { TaskList } from './list.ts';
import { looks } from './looks.ts';

const words = text.tasks;

/** Pixels of a card with two lines of its title, and the gap below it, as in style/board.css. */
const cardHeight = 98;

const dragged = 'application/x-signalbox-task';

/** Tasks as cards in a column for each status; a card is moved by dragging it, or with its button. */
export const Board = ({ tasks, list }: { tasks: readonly Task[]; list: TaskList }) => {
  const columns = useMemo(() => statuses.map((each) => tasks.filter(({ Status: status }) => status === each)), [tasks]);
  return (
    <div class="board">
      {statuses.map((status, index) => (
        <BoardColumn key={status} status={status} tasks={columns[index] ?? []} list={list} />
      ))}
    </div>
  );
};

interface ColumnProps {
  status: Status;
  tasks: readonly Task[];
  list: TaskList;
}

const BoardColumn = ({ status, tasks, list }: ColumnProps) => {
  const id = useId();
  const cards = useRef<HTMLUListElement>(null);
  const isOver = useSignal(false);
  const { first, last } = useVirtualRows(cards, tasks.length, cardHeight);
  const shown = tasks.slice(first, last);
  const keys = useRecycledKeys(shown.map(({ Id: id }) => id));
  const drop = (event: DragEvent) => {
    isOver.value = false;
    const moved = list.state.value.tasks?.find(({ Id: each }) => `${each}` === event.dataTransfer?.getData(dragged));
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
        <Chip {...looks[status]}>{words.statuses[status]}</Chip> <span class="hint">{toCount(tasks.length)}</span>
      </h2>
      {tasks.length === 0 && <p class="hint">{words.emptyColumn}</p>}
      <ul
        ref={cards}
        style={{ minHeight: `${tasks.length * cardHeight}px`, paddingTop: `${first * cardHeight}px` }}
        aria-labelledby={id}
      >
        {shown.map((task, index) => (
          <Card key={keys[index]} task={task} list={list} />
        ))}
      </ul>
    </section>
  );
};

class Card extends Pure<TaskProps> {
  override render() {
    const { task, list } = this.props;
    return (
      <li
        class="card"
        draggable
        onDragStart={({ dataTransfer }) => {
          dataTransfer?.setData(dragged, `${task.Id}`);
          dataTransfer?.setData('text/plain', task.Title);
        }}
      >
        <Title task={task} list={list} />
        <div class="task-line">
          <Chip {...looks[task.Priority]}>{words.priorities[task.Priority]}</Chip>
          <span class="hint">#{task.Id}</span>
          <TaskActions task={task} list={list}>
            <MoveChoice task={task} list={list} />
          </TaskActions>
        </div>
      </li>
    );
  }
}
