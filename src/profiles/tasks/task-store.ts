import { toLocalTimestamp } from '../../http/timestamp.ts';
import type { OpenChanges } from '../../storage/changes/changes.ts';
import { InTurn } from '../../storage/in-turn.ts';
import type { Awaitable } from '../../storage/list.ts';
import type { NewTask } from './schema.ts';
import type { RequestKey, StoredTask, TaskStore } from './store.ts';
import { assertExpected, isExpected, type TaskEntry, toKnownTask, toNewTask, toSeedTasks, toUpdated } from './task.ts';
import { createTaskState, type TaskChange } from './task-state.ts';

/** A task as it will be once its last change is written; undefined if it will be gone. */
interface Waiting {
  task: StoredTask | undefined;
  written: Promise<unknown>;
}

/** Tasks in memory, whose changes show once they are stored. */
export const openTaskStore = async (clock: () => Date, openChanges: OpenChanges): Promise<TaskStore> => {
  const state = createTaskState(clock);
  const waiting = new Map<number, Waiting>();
  const inTurn = new InTurn();
  let lastGivenId = 0;
  const changes = await openChanges('tasks', state, () => {
    waiting.clear();
    lastGivenId = 0;
  });
  const now = (): string => toLocalTimestamp(clock());
  const write = <T>(
    id: number,
    task: StoredTask | undefined,
    change: TaskChange,
    toResult: (count: number) => T,
  ): Awaitable<T> => {
    const written = changes.write(change);
    if (!(written instanceof Promise)) return toResult(written);
    const next = { task, written };
    waiting.set(id, next);
    return written.then((count) => {
      if (waiting.get(id) === next) waiting.delete(id);
      return toResult(count);
    });
  };
  const put = (task: TaskEntry, key?: RequestKey): Awaitable<StoredTask> => {
    const change = key ? { put: task, created: { ...key, storedAt: +clock() } } : { put: task };
    return write(task.id, task, change, () => task);
  };
  const change = <T>(
    id: number,
    expected: readonly number[] | undefined,
    apply: (task: StoredTask) => Awaitable<T>,
  ): Awaitable<T | undefined> => {
    const next = waiting.get(id);
    const task = next ? next.task : state.find(id);
    if (task && isExpected(task, expected)) return apply(task);
    const refuse = (): undefined => {
      if (task) assertExpected(task, expected);
    };
    // A refusal because of a change that waits comes after it: until then, others read the task as it was.
    return next ? next.written.then(refuse) : refuse();
  };
  const create = (fields: NewTask, key?: RequestKey): Awaitable<StoredTask> => {
    const known = key && state.findKey(key.key);
    if (known) return toKnownTask(known, key);
    const id = Math.max(lastGivenId, state.lastId) + 1;
    const created = put(toNewTask(id, fields, now()), key);
    lastGivenId = id;
    return created;
  };
  return {
    create: (fields, key) => (key ? inTurn.run([key.key], () => create(fields, key)) : create(fields)),
    find: state.find,
    update: (id, fields, expected) => change(id, expected, (task) => put(toUpdated(task, fields, now()))),
    remove: (id, expected) => change(id, expected, () => write(id, undefined, { removed: id }, (count) => count)),
    list: state.list,
    search: state.search,
    restore: async (records, ifNew) => {
      if (ifNew && state.lastId > 0) return undefined;
      const tasks = toSeedTasks(records, state.lastId, now());
      if (typeof tasks === 'number') return tasks;
      for (const task of tasks) state.apply({ put: task });
      await changes.save();
      return undefined;
    },
    isReady: () => changes.isReady(),
    close: () => changes.close(),
  };
};
