import { setImmediate } from 'node:timers/promises';
import { InTurn } from '../../../storage/in-turn.ts';
import type { Database } from '../../../storage/postgres/database.ts';
import { rememberedMs } from '../../../storage/recent-keys.ts';
import type { Versioned } from '../../../storage/versions.ts';
import type { Task, TaskChanges } from '../schema.ts';
import type { TaskStore } from '../store.ts';
import { toStoredTask } from '../task-text.ts';
import { createTaskCollection, type TaskChange } from './task-changes.ts';
import { createTaskLists, createTaskSearch } from './task-lists.ts';

/** Tasks in a database that several instances share. */
export const createPostgresTaskStore = (database: Database, clock: () => Date): TaskStore => {
  const collection = createTaskCollection(clock);
  const write = <T>(change: TaskChange) => database.write(collection, change) as Promise<T>;
  database.expire({ table: 'idempotency', key: 'key', at: { timestamp: 'at' }, keptMs: rememberedMs, clock });
  const inTurn = new InTurn();
  return {
    create: (fields, key) => {
      const create = () => write<Versioned<Task>>({ create: pick(fields), key });
      return key ? inTurn.run([key.key], create) : create();
    },
    find: createFinder(database),
    update: (id, changes, expected) => write({ update: id, changes: pick(changes), expected }),
    remove: (id, expected) => write({ remove: id, expected }),
    list: createTaskLists(database),
    search: createTaskSearch(database),
    restore: (records, ifNew = false) => write({ restore: records, ifNew }),
    isReady: () => database.isReady(),
    // The database is closed by who has opened it.
    close: () => undefined,
  };
};

/** The known fields alone: a client may send others, of any depth. */
const pick = <T extends TaskChanges>({ Title, Description, Priority, Status }: T): T =>
  ({ Title, Description, Priority, Status }) as T;

/** Finds tasks: those that are asked for in one turn of the event loop with one statement. */
const createFinder = (database: Database) => {
  let wanted: number[] = [];
  let found: Promise<Map<number, Versioned<Task>>> | undefined;
  const readWanted = async (): Promise<Map<number, Versioned<Task>>> => {
    await setImmediate();
    const ids = wanted;
    wanted = [];
    found = undefined;
    const text = 'SELECT id, version, body FROM signalbox.task WHERE id = ANY($1)';
    const rows = await database.query({ text, values: [ids] });
    return new Map(rows.map(({ id, version, body }) => [id, toStoredTask(body, version)]));
  };
  return async (id: number): Promise<Versioned<Task> | undefined> => {
    wanted.push(id);
    found ??= readWanted();
    return (await found).get(id);
  };
};
