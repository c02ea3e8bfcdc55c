import { InTurn } from '../../lib/scheduling.ts';
import type { OpenChanges } from '../../storage/changes.ts';
import type { Awaitable } from '../../storage/list.ts';
import { type CurrentTasks, type DecidedChange, decideTask, type TaskRequest, toSeedTasks } from './decide.ts';
import type { StoredTask, TaskStore } from './store.ts';
import { createTaskState } from './task-state.ts';

/** Task whose last change is being stored. */
interface WaitingTask {
  /** Task. Undefined if the change is a removal. */
  task: StoredTask | undefined;
  written: Promise<unknown>;
}

/** Opens the store `memory` or `file`. Tasks are in memory. Changes become visible once they are stored. */
export const openTaskStore = async (clock: () => Date, openChanges: OpenChanges): Promise<TaskStore> => {
  const state = createTaskState(clock);
  const waiting = new Map<number, WaitingTask>();
  const inTurn = new InTurn();
  let lastAssignedId = 0;
  const changes = await openChanges('tasks', state, () => {
    waiting.clear();
    lastAssignedId = 0;
  });
  const current: CurrentTasks = {
    get lastId(): number {
      return Math.max(lastAssignedId, state.lastId);
    },
    find: (id) => {
      const next = waiting.get(id);
      return next ? next.task : state.find(id);
    },
    findKey: state.findKey,
  };
  /** Runs a request. Resolves to the changed task, or to the number of tasks after a removal. */
  const run = (request: TaskRequest): Awaitable<StoredTask | number | undefined> => {
    const decision = decideTask(request, current, clock());
    if ('change' in decision) return write(decision.change);
    const conclude = (): StoredTask | undefined => {
      if ('refusal' in decision) throw decision.refusal;
      return decision.result;
    };
    // A result that depends on an unstored change waits for that change, because readers cannot see it yet.
    const next = 'create' in request ? undefined : waiting.get('update' in request ? request.update : request.remove);
    return next ? next.written.then(conclude) : conclude();
  };
  const write = (change: DecidedChange): Awaitable<StoredTask | number> => {
    const [id, task] = 'put' in change ? [change.put.id, change.put] : [change.removed, undefined];
    const written = changes.write(change);
    if (task) lastAssignedId = Math.max(lastAssignedId, id);
    if (!(written instanceof Promise)) return task ?? written;
    const next = { task, written };
    waiting.set(id, next);
    return written.then((count) => {
      if (waiting.get(id) === next) waiting.delete(id);
      return task ?? count;
    });
  };
  return {
    create: (fields, key) => {
      const create = () => run({ create: fields, key }) as Awaitable<StoredTask>;
      return key ? inTurn.run([key.key], create) : create();
    },
    find: state.find,
    update: (id, fields, expected) =>
      run({ update: id, changes: fields, expected }) as Awaitable<StoredTask | undefined>,
    remove: (id, expected) => run({ remove: id, expected }) as Awaitable<number | undefined>,
    list: state.list,
    search: state.search,
    restore: async (records, ifNew) => {
      if (ifNew && state.lastId > 0) return undefined;
      const tasks = toSeedTasks(records, state.lastId, clock());
      if (typeof tasks === 'number') return tasks;
      for (const task of tasks) state.apply({ put: task });
      await changes.save();
      return undefined;
    },
    isReady: () => changes.isReady(),
    close: () => changes.close(),
  };
};
