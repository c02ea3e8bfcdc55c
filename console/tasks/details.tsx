import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { TaskPriority as Priority, TaskStatus as Status, Task, TaskChanges } from 'signalbox/client';
import { toFull } from '../format.ts';
import { text } from '../strings/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Facts } from '../ui/facts.tsx';
import { Area, Choice, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Empty, Skeleton } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';
import { fromServer } from '../zone.ts';
import { remove, restore, save as store } from './actions.ts';
import { taskPriorities, taskStatuses } from './filter.ts';
import type { LiveTasks } from './list.ts';

const words = text.tasks;

interface Props {
  id: string;
  list: LiveTasks;
  onClose: () => void;
}

/** Dialog with all fields of a task. */
export const TaskDialog = ({ id, list, onClose }: Props) => {
  const opened = list.opened.value;
  const task = `${opened?.Id}` === id ? (opened ?? undefined) : undefined;
  const known = useRef(task);
  if (task || `${known.current?.Id}` !== id) known.current = task;
  useEffect(() => void list.open(Number(id)), [list, id]);
  return (
    <Dialog title={words.details(id)} kind="drawer" onClose={onClose}>
      {known.current ? (
        <TaskForm key={id} task={known.current} isDeleted={opened === null} list={list} onClose={onClose} />
      ) : opened === null ? (
        <Empty title={words.missing} hint={words.missingHint} />
      ) : (
        <Skeleton lines={10} />
      )}
    </Dialog>
  );
};

interface FormProps {
  task: Task;
  /** True if others deleted the task while the dialog was open. */
  isDeleted: boolean;
  list: LiveTasks;
  onClose: () => void;
}

/**
 * Form that holds and sends only the fields that the user has changed. All other fields follow the server. `before` has
 * the original values of the changed fields.
 */
const TaskForm = ({ task, isDeleted, list, onClose }: FormProps) => {
  const changes = useSignal<TaskChanges>({});
  const before = useSignal<TaskChanges>({});
  const error = useSignal<string | undefined>(undefined);
  const shown = { ...task, ...changes.value };
  const set = (more: TaskChanges) => {
    error.value = undefined;
    const { Title, Description, Priority, Status } = task;
    const known = { Title, Description, Priority, Status };
    const first = Object.fromEntries(Object.keys(more).map((name) => [name, known[name as keyof typeof known]]));
    before.value = { ...first, ...before.value };
    changes.value = { ...changes.value, ...more };
  };
  const save = async () => {
    if (isDeleted) {
      void restore(list, shown);
      return onClose();
    }
    const outcome = await store(list, task, before.value, changes.value);
    if (outcome === 'neither') return;
    if (typeof outcome === 'object') {
      error.value = outcome.reason;
      return;
    }
    notify(outcome === 'mine' ? words.saved : words.keptTheirs);
    onClose();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field
        label={words.title}
        value={shown.Title}
        error={error.value}
        required
        autocomplete="off"
        onValue={(Title) => set({ Title })}
      />
      <Area
        label={words.description}
        value={shown.Description}
        hint={shown.Description === '' && task.Description !== '' ? words.descriptionKept : undefined}
        onValue={(Description) => set({ Description })}
      />
      <Choice
        label={words.priority}
        value={shown.Priority}
        options={taskPriorities.map((each) => [each, words.priorities[each]])}
        onValue={(value) => set({ Priority: value as Priority })}
      />
      <Choice
        label={words.status}
        value={shown.Status}
        options={taskStatuses.map((each) => [each, words.statuses[each]])}
        onValue={(value) => set({ Status: value as Status })}
      />
      <Times task={task} />
      {isDeleted && (
        <p class="note" role="status">
          {words.deletedHere}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary">
          {isDeleted ? words.saveAsNew : words.save}
        </button>
        {!isDeleted && (
          <IconButton
            icon="trash"
            label={words.delete}
            onClick={() => {
              onClose();
              void remove(list, task);
            }}
          />
        )}
      </div>
    </form>
  );
};

const Times = ({ task: { CreatedAt: created, UpdatedAt: updated } }: { task: Task }) => (
  <Facts
    facts={[
      [words.createdAt, toFull(fromServer(created))],
      [words.updatedAt, updated !== undefined && toFull(fromServer(updated))],
    ]}
  />
);
