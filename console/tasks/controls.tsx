import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { TaskStatus as Status, Task } from 'signalbox/client';
import { toCount } from '../format.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { notify } from '../ui/toast.tsx';
import { choose, complete, offerToRestore, remove, save as store, toTaskName } from './actions.ts';
import { taskPriorities, taskStatuses } from './filter.ts';
import type { LiveTasks } from './list.ts';
import { looks } from './looks.ts';

const words = text.tasks;

export interface TaskProps {
  task: Task;
  list: LiveTasks;
}

/** Maximum length, in characters, of a title that is never cut. */
const mostInLine = 30;

/** Title being edited in place. Kept outside the component, because scrolling would lose the text. */
const draft = signal<{ before: Task; title: string } | undefined>(undefined);

/** Title of a task. A click or Enter starts editing in place. */
export const Title = ({ task, list }: TaskProps) => {
  const isEdited = draft.value?.before.Id === task.Id;
  const button = useRef<HTMLButtonElement>(null);
  const isAfterKey = useRef(false);
  useEffect(() => {
    if (!isEdited && isAfterKey.current) button.current?.focus();
    isAfterKey.current = false;
  }, [isEdited]);
  if (isEdited) {
    return (
      <TitleInput
        task={task}
        list={list}
        onKey={() => {
          isAfterKey.current = true;
        }}
      />
    );
  }
  return (
    <button
      ref={button}
      type="button"
      class="task-title"
      title={task.Title.length > mostInLine ? task.Title : words.editHint}
      onClick={() => {
        draft.value = { before: task, title: task.Title };
      }}
    >
      <bdi class="one-line">{task.Title}</bdi>
    </button>
  );
};

/** Input for the title. Enter and blur save the title. Escape discards the change. Cards show all lines. */
const TitleInput = ({ task, list, onKey }: TaskProps & { onKey: () => void }) => {
  const input = useRef<HTMLTextAreaElement>(null);
  // Takes the focus before the next key press.
  useLayoutEffect(() => input.current?.focus(), []);
  const save = async () => {
    const edited = draft.peek();
    draft.value = undefined;
    if (edited?.before.Id !== task.Id || edited.title === edited.before.Title) return;
    const { before, title } = edited;
    if (list.isGone(task.Id)) return offerToRestore(list, { ...task, Title: title });
    const outcome =
      title.trim() === ''
        ? { reason: words.needsTitle }
        : await store(list, task, { Title: before.Title }, { Title: title });
    if (outcome === 'mine' || outcome === 'theirs') return;
    if (list.isGone(task.Id)) return offerToRestore(list, { ...task, Title: title });
    if (typeof outcome === 'object') notify(outcome.reason, { kind: 'failure' });
    draft.value = edited;
  };
  // Not all browsers fire blur when a focused field is removed.
  useEffect(() => () => void (list.isGone(task.Id) && save()), []);
  return (
    <textarea
      ref={input}
      class="task-input"
      rows={1}
      aria-label={words.titleOf(toCount(task.Id))}
      value={draft.value?.title}
      onInput={({ currentTarget }) => {
        draft.value = { before: draft.peek()?.before ?? task, title: currentTarget.value.replace(/\s*\n\s*/g, ' ') };
      }}
      onBlur={save}
      onKeyDown={(event) => {
        const { key } = event;
        if (key !== 'Enter' && key !== 'Escape') return;
        event.preventDefault();
        onKey();
        if (key === 'Enter') void save();
        else draft.value = undefined;
      }}
    />
  );
};

export const StatusChoice = ({ task, list }: TaskProps) => (
  <select
    class={`task-choice tone-${looks[task.Status].tone}`}
    aria-label={words.statusOf(toTaskName(task))}
    value={task.Status}
    onChange={({ currentTarget }) => void choose(list, task, { Status: currentTarget.value as Status })}
  >
    {taskStatuses.map((each) => (
      <option key={each} value={each}>
        {words.statuses[each]}
      </option>
    ))}
  </select>
);

export const PriorityChoice = ({ task, list }: TaskProps) => (
  <select
    class={`task-choice tone-${looks[task.Priority].tone}`}
    aria-label={words.priorityOf(toTaskName(task))}
    value={task.Priority}
    onChange={({ currentTarget }) => void choose(list, task, { Priority: currentTarget.value as Task['Priority'] })}
  >
    {taskPriorities.map((each) => (
      <option key={each} value={each}>
        {words.priorities[each]}
      </option>
    ))}
  </select>
);

/** Selection of a status, shown as a button. Used on cards, because the column already shows the status. */
export const MoveChoice = (props: TaskProps) => (
  <span class="move" title={words.move}>
    <Icon name="move" />
    <StatusChoice {...props} />
  </span>
);

/** Buttons: complete, open, delete. Double clicks are ignored, because the second click would hit the next row. */
export const TaskActions = ({ task, list, children }: TaskProps & { children?: ComponentChildren }) => {
  const name = toTaskName(task);
  const isDone = task.Status === 'Completed';
  return (
    <span class="task-actions">
      {children}
      <button
        type="button"
        class="quiet"
        aria-label={words.complete(name)}
        aria-disabled={isDone}
        onClick={({ detail }) => detail < 2 && !isDone && void complete(list, task)}
      >
        <Icon name="check" />
      </button>
      <a class="button quiet" href={toHash(`/tasks/${task.Id}`, place.value.params)} aria-label={words.open(name)}>
        <Icon name="open" />
      </a>
      <button
        type="button"
        class="quiet"
        aria-label={words.deleteOf(name)}
        onClick={({ detail }) => detail < 2 && void remove(list, task)}
      >
        <Icon name="trash" />
      </button>
    </span>
  );
};
