import { setImmediate } from 'node:timers/promises';
import { createMemoryTaskStore } from '../../src/profiles/tasks/memory-store.ts';
import type { TaskStore } from '../../src/profiles/tasks/store.ts';

/** The memory store behind promises and asynchronous lists, like a database. */
export const createAsynchronousTaskStore = (clock: () => Date): TaskStore => {
  const store = createMemoryTaskStore(clock);
  const later = async <T>(value: T): Promise<T> => {
    await setImmediate();
    return value;
  };
  return {
    create: (fields) => later(store.create(fields)),
    find: (id) => later(store.find(id)),
    update: (id, changes) => later(store.update(id, changes)),
    remove: (id) => later(store.remove(id)),
    list: (filter, limit) => {
      const { total, count, pieces } = store.list(filter, limit);
      return later({ total, count, pieces: takeLater(pieces) });
    },
    restore: (record) => later(store.restore(record)),
    isReady: () => later(store.isReady()),
    close: async () => store.close(),
  };
};

async function* takeLater<T>(pieces: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  for await (const piece of pieces) {
    await setImmediate();
    yield piece;
  }
}
