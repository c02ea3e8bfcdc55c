import { setImmediate } from 'node:timers/promises';
import { openTaskStore } from '../../src/features/tasks/memory-store.ts';
import type { TaskStore } from '../../src/features/tasks/store.ts';
import { openInMemory } from '../../src/storage/changes.ts';
import type { Awaitable } from '../../src/storage/list.ts';

/** Wraps the memory store in promises and asynchronous lists, as a database would return. */
export const createAsynchronousTaskStore = async (clock: () => Date): Promise<TaskStore> => {
  const store = await openTaskStore(clock, openInMemory);
  const later = async <T>(value: Awaitable<T>): Promise<T> => {
    await setImmediate();
    return value;
  };
  return {
    create: (...all) => later(store.create(...all)),
    find: (id) => later(store.find(id)),
    update: (...all) => later(store.update(...all)),
    remove: (...all) => later(store.remove(...all)),
    list: async (...all) => {
      const { pieces, ...rest } = await store.list(...all);
      return later({ ...rest, pieces: takeLater(pieces) });
    },
    search: (search) => later(store.search(search)),
    restore: store.restore,
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
