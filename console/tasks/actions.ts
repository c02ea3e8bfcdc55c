import type { NewTask, Task, TaskChanges } from 'signalbox/client';
import { createRepeatId } from '../../src/client/send.ts';
import { ApiError, userClient, versionedClient } from '../api.ts';
import { shorten, toCount } from '../format.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { notify } from '../ui/toast.tsx';
import { askWhich, isTaskConflict, type KeptVersion, type Versions } from './conflict.ts';
import { beginDeletion, completeDeletion, undoDeletion, type Version } from './deletion.ts';
import type { LiveTasks } from './list.ts';
import { explainRefusal } from './reason.ts';

const words = text.tasks;

/** Maximum number of characters of a title in a message. */
const mostNamed = 60;

/** Milliseconds before each attempt to change a task. Others may be changing it at the same time. */
const pauses = [0, 200, 800, 3200];

/** Returns the title for messages and accessible names. */
export const toTaskName = ({ Title: title }: Task): string => shorten(title, mostNamed);

/** Result of saving: the version that was kept, or the reason for a refusal. */
export type SaveOutcome = KeptVersion | { reason: string };

/**
 * Saves the changed fields of a task. `before` has their original values. If changes by others conflict, the user
 * chooses which version to keep.
 */
export const save = (list: LiveTasks, task: Task, before: TaskChanges, changes: TaskChanges): Promise<SaveOutcome> => {
  list.put({ ...task, ...changes });
  return settle(list, task, { before: { ...task, ...before }, changes }, async (version) => {
    list.put(await userClient.updateTask({ id: task.Id, ...changes }, version));
  });
};

/** Runs a change to the stored version. After a conflict, the user may decide against the change. */
const settle = async (
  list: LiveTasks,
  task: Task,
  { before, changes }: Omit<Versions, 'theirs'>,
  run: (version: Version, stored: Task) => Promise<void>,
): Promise<SaveOutcome> => {
  let [shown, known] = [task, before];
  for (const pause of pauses) {
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    try {
      const { data, version } = await versionedClient.getTask({ id: task.Id });
      shown = data;
      if (isTaskConflict({ before: known, changes, theirs: shown })) {
        list.put(shown);
        const choice = await askWhich({ before: known, changes, theirs: shown });
        if (choice !== 'mine') return choice;
      }
      known = shown;
      await run(version === undefined ? {} : { ifMatch: version }, shown);
      return 'mine';
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      // The task has changed since it was loaded.
      if (status === 412) continue;
      if (status === 404) list.drop(task.Id);
      else list.put(shown);
      return { reason: explainRefusal(error) };
    }
  }
  list.put(shown);
  return { reason: words.keepsChanging };
};

/** Shows a change immediately and sends it. If the change is refused, reverts it and returns the reason. */
const change = async (list: LiveTasks, task: Task, changes: TaskChanges): Promise<string | undefined> => {
  list.put({ ...task, ...changes });
  try {
    list.put(await userClient.updateTask({ id: task.Id, ...changes }));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) list.drop(task.Id);
    else list.put(task);
    return explainRefusal(error);
  }
};

/** Changes one field to the option chosen and shows the reason for any refusal. */
export const choose = async (list: LiveTasks, task: Task, changes: TaskChanges): Promise<void> => {
  const reason = await change(list, task, changes);
  if (reason !== undefined) notify(reason, { kind: 'failure' });
};

export const complete = async (list: LiveTasks, task: Task): Promise<void> => {
  const reason = await change(list, task, { Status: 'Completed' });
  if (reason !== undefined) return notify(reason, { kind: 'failure' });
  const run = () => void choose(list, { ...task, Status: 'Completed' }, { Status: task.Status });
  notify(words.completed(toTaskName(task)), { action: { label: text.undo, run } });
};

/** Creates a task, at most once per key. Throws an ApiError if the server refuses. */
export const create = async (list: LiveTasks, fields: NewTask, key: string): Promise<Task> => {
  const task = await userClient.createTask(fields, { idempotencyKey: key });
  list.put(task);
  return task;
};

/**
 * Hides a task and offers undo. The server deletes the task only when the offer expires, so undo brings back the same
 * task. If another user's change conflicts, the user is asked once. `isSecond` marks the deletion after that decision.
 */
export const remove = async (list: LiveTasks, task: Task, isSecond = false): Promise<void> => {
  if (!isAllowed('deleteTask')) return notify(text.errors.admin, { kind: 'failure' });
  let shown = task;
  const outcome = await settle(list, task, { before: task, changes: undefined }, async (version, stored) => {
    shown = stored;
    beginDeletion(task.Id, version);
  });
  if (typeof outcome === 'object') return notify(outcome.reason, { kind: 'failure' });
  if (outcome !== 'mine') return;
  const run = () => undoDeletion(task.Id);
  notify(words.deleted(toTaskName(shown)), {
    action: { label: text.undo, run },
    onEnd: () => void finish(list, shown, isSecond),
  });
};

const finish = async (list: LiveTasks, task: Task, isSecond: boolean): Promise<void> => {
  const outcome = await completeDeletion(task.Id);
  if (outcome === 'deleted') return list.drop(task.Id);
  if (outcome === 'changed' && !isSecond) return remove(list, task, true);
  const reason = outcome === 'changed' ? words.keepsChanging : outcome.reason;
  notify(words.notDeleted(toTaskName(task), reason), { kind: 'failure' });
};

/** Reports that the task being edited was deleted, and offers to save the changes as a new task. */
export const offerToRestore = (list: LiveTasks, task: Task): void => {
  const run = () => void restore(list, task);
  notify(words.deletedElsewhere(toTaskName(task)), { kind: 'failure', action: { label: words.saveAsNew, run } });
};

/** Creates a deleted task again. The task gets a new id, because the API never reuses ids. */
export const restore = async (list: LiveTasks, task: Task, key = createRepeatId()): Promise<void> => {
  const { Title, Description, Priority, Status } = task;
  try {
    const created = await create(list, { Title, Description, Priority }, key);
    if (Status !== 'Pending') await choose(list, created, { Status });
    notify(words.restored(toCount(created.Id)));
  } catch (error) {
    notify(explainRefusal(error), {
      kind: 'failure',
      action: { label: text.retry, run: () => void restore(list, task, key) },
    });
  }
};
