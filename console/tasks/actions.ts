import { ApiError, send } from '../api.ts';
import { toCount } from '../format.ts';
import { text } from '../strings/index.ts';
import { notify } from '../ui/toast.tsx';
import { createTask, deleteTask, type NewTask, type Task, type TaskChanges, toReason, updateTask } from './calls.ts';
import type { TaskList } from './list.ts';

const words = text.tasks;

/** Characters of a title in a message. */
const mostNamed = 60;

/** The title in messages and names. */
export const toName = ({ Title: title }: Task): string =>
  title.length > mostNamed ? `${title.slice(0, mostNamed)}…` : title;

/** Shows the change at once and sends it; takes it back and returns the reason if it is refused. */
export const change = async (list: TaskList, task: Task, changes: TaskChanges): Promise<string | undefined> => {
  list.put({ ...task, ...changes });
  try {
    list.put(await send(updateTask, { params: { id: task.Id }, body: changes, interactive: true }));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) list.drop(task.Id);
    else list.put(task);
    return toReason(error);
  }
};

/** As `change`, for changes that are a single choice. */
export const choose = async (list: TaskList, task: Task, changes: TaskChanges): Promise<void> => {
  const reason = await change(list, task, changes);
  if (reason !== undefined) notify(reason, { kind: 'failure' });
};

export const complete = async (list: TaskList, task: Task): Promise<void> => {
  const reason = await change(list, task, { Status: 'Completed' });
  if (reason !== undefined) return notify(reason, { kind: 'failure' });
  const run = () => void choose(list, { ...task, Status: 'Completed' }, { Status: task.Status });
  notify(words.completed(toName(task)), { action: { label: text.undo, run } });
};

/** Stores a new task; throws an ApiError if it is refused. */
export const create = async (list: TaskList, fields: NewTask): Promise<Task> => {
  const task = await send(createTask, { body: fields, interactive: true });
  list.put(task);
  return task;
};

/** Deletes a task and offers to undo that. */
export const remove = async (list: TaskList, task: Task): Promise<void> => {
  try {
    await send(deleteTask, { params: { id: task.Id }, interactive: true });
  } catch (error) {
    return notify(toReason(error), { kind: 'failure' });
  }
  list.drop(task.Id);
  const run = () => void restore(list, task);
  notify(words.deleted(toName(task)), { action: { label: text.undo, run } });
};

/** True for a task that has been deleted. */
export const isGone = ({ state }: TaskList, { Id: gone }: Task): boolean =>
  !state.peek().tasks?.some(({ Id: id }) => id === gone);

/** Says that a task is gone which the user was editing, and offers to store it with the changes. */
export const offerToRestore = (list: TaskList, task: Task): void => {
  const run = () => void restore(list, task);
  notify(words.deletedElsewhere(toName(task)), { kind: 'failure', action: { label: words.saveAsNew, run } });
};

/** The API never uses an id twice, so what was deleted comes back under a new one. */
export const restore = async (list: TaskList, task: Task): Promise<void> => {
  const { Title, Description, Priority, Status } = task;
  try {
    const created = await create(list, { Title, Description, Priority });
    if (Status !== 'Pending') await choose(list, created, { Status });
    notify(words.restored(toCount(created.Id)));
  } catch (error) {
    notify(toReason(error), { kind: 'failure', action: { label: text.retry, run: () => void restore(list, task) } });
  }
};
