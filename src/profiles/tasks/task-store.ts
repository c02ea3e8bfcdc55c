import { KeyRefusal } from '../../expected-errors.ts';
import { toLocalTimestamp } from '../../http/timestamp.ts';
import type { OpenChanges } from '../../storage/changes/changes.ts';
import { InTurn } from '../../storage/in-turn.ts';
import type { Awaitable } from '../../storage/list.ts';
import { type Versioned, version } from '../../storage/versions.ts';
import type { NewTask, Task, TaskSeed } from './schema.ts';
import type { RequestKey, TaskStore } from './store.ts';
import { assertExpected, isExpected, toNewTask, toSeedTask, toUpdated } from './task-rules.ts';
import { createTaskState, type TaskChange } from './task-state.ts';
import { toPlainTask, toStoredTask, toTaskText } from './task-text.ts';

/** A task as it will be once its last change is written; undefined if it will be gone. */
interface Waiting {
  task: Versioned<Task> | undefined;
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
  const findNewest = (id: number): Versioned<Task> | undefined => {
    const next = waiting.get(id);
    return next ? next.task : state.find(id);
  };
  const write = <T>(
    id: number,
    task: Versioned<Task> | undefined,
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
  const change = <T>(
    id: number,
    expected: readonly number[] | undefined,
    apply: (task: Versioned<Task>) => Awaitable<T>,
  ): Awaitable<T | undefined> => {
    const task = findNewest(id);
    if (task && isExpected(task, expected)) return apply(task);
    const refuse = (): undefined => {
      if (task) assertExpected(task, expected);
    };
    // A refusal because of a change that waits comes after it: until then, others read the task as it was.
    const next = waiting.get(id);
    return next ? next.written.then(refuse) : refuse();
  };
  const put = (task: Task, ofVersion: number, created?: RequestKey): Awaitable<Versioned<Task>> => {
    const stored = toStoredTask(toTaskText(task), ofVersion);
    const change = { task, version: ofVersion, ...(created && { created: { ...created, storedAt: +clock() } }) };
    return write(task.Id, stored, change, () => stored);
  };
  return {
    create: (fields, key) =>
      key ? inTurn.run([key.key], () => findCreated(key) ?? create(fields, key)) : create(fields),
    find: state.find,
    update: (id, fields, expected) =>
      change(id, expected, (task) =>
        put(toUpdated(toPlainTask(task), fields, toLocalTimestamp(clock())), task[version] + 1),
      ),
    remove: (id, expected) => change(id, expected, () => write(id, undefined, { removed: id }, (count) => count)),
    list: state.list,
    search: state.search,
    restore: async (records, ifNew) => {
      if (ifNew && state.lastId > 0) return undefined;
      const refused = records.findIndex((record) => !restore(record));
      if (refused >= 0) return refused;
      await changes.save();
      return undefined;
    },
    isReady: () => changes.isReady(),
    close: () => changes.close(),
  };

  function create(fields: NewTask, key?: RequestKey): Awaitable<Versioned<Task>> {
    const id = Math.max(lastGivenId, state.lastId) + 1;
    const created = put(toNewTask(id, fields, toLocalTimestamp(clock())), 1, key);
    lastGivenId = id;
    return created;
  }

  function findCreated({ key, bodyHash }: RequestKey): Versioned<Task> | undefined {
    const known = state.findKey(key);
    if (known && known.bodyHash !== bodyHash) throw new KeyRefusal();
    return known && toStoredTask(toTaskText(known.task), 1);
  }

  function restore(record: TaskSeed): boolean {
    const { Id = state.lastId + 1 } = record;
    if (Id <= state.lastId) return false;
    state.apply({ task: toSeedTask(Id, record, toLocalTimestamp(clock())), version: 1 });
    return true;
  }
};
