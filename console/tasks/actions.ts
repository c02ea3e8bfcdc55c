import type { NewTask, Task, TaskChanges } from 'signalbox/client';
import { createRequestKey } from '../../src/client/send.ts';
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

/** Characters of a title in a message. */
const mostNamed = 60;

/** Milliseconds before each attempt to change a task that somebody else may be changing, too. */
const pauses = [0, 200, 800, 3200];

/** The title in messages and names. */
export const toTaskName = ({ Title: title }: Task): string => shorten(title, mostNamed);

/** What came of an edited task: the version that was kept, or why it was not stored. */
export type SaveOutcome = KeptVersion | { reason: string };

/**
 * Stores what the user has changed of a task; `before` has these fields as they were then. If somebody else has changed
 * them meanwhile, the user chooses which version is kept.
 */
export const save = (list: LiveTasks, task: Task, before: TaskChanges, changes: TaskChanges): Promise<SaveOutcome> => {
  list.put({ ...task, ...changes });
  return settle(list, task, { before: { ...task, ...before }, changes }, async (version) => {
    list.put(await userClient.updateTask({ id: task.Id, ...changes }, version));
  });
};

/** Runs a change of the stored version, unless it conflicts and the user decides against it. */
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
      // It was changed after it was read.
      if (status === 412) continue;
      if (status === 404) list.drop(task.Id);
      else list.put(shown);
      return { reason: explainRefusal(error) };
    }
  }
  list.put(shown);
  return { reason: words.keepsChanging };
};

/** Shows the change at once and sends it; takes it back and returns the reason if it is refused. */
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

/** As `change`, for changes that are a single choice. */
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

/** Stores a new task, once for each key; throws an ApiError if it is refused. */
export const create = async (list: LiveTasks, fields: NewTask, key: string): Promise<Task> => {
  const task = await userClient.createTask(fields, { idempotencyKey: key });
  list.put(task);
  return task;
};

/**
 * Hides a task and offers to undo that; the server deletes it once the offer is gone, so that what comes back is the same
 * task. If somebody else has changed it, the user decides, once: `isSecond` for the deletion after that.
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

/** Says that a task is gone which the user was editing, and offers to store it with the changes. */
export const offerToRestore = (list: LiveTasks, task: Task): void => {
  const run = () => void restore(list, task);
  notify(words.deletedElsewhere(toTaskName(task)), { kind: 'failure', action: { label: words.saveAsNew, run } });
};

/** The API never uses an id twice, so what others have deleted comes back under a new one. */
export const restore = async (list: LiveTasks, task: Task, key = createRequestKey()): Promise<void> => {
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
