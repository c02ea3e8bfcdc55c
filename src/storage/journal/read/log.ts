import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../errors.ts';
import { type SharedHandle, shareHandle } from '../files/shared-handle.ts';
import type { Snapshots } from '../write/segment-store.ts';
import { type Line, readLinesBackwards } from './backwards.ts';

/** Lines of one file of the log, last one first. */
export interface Passage {
  source: SharedHandle;
  lines: Line[];
}

interface Source {
  shared: SharedHandle;
  end: number;
}

/** Every line of the log, last one first, as the log is when the first is asked for. */
export async function* readLogBackwards(log: Snapshots, maxLineBytes: number): AsyncGenerator<Passage> {
  for await (const { shared, end } of openSources(log)) {
    for await (const lines of readLinesBackwards(shared.handle, end, maxLineBytes)) {
      yield { source: shared, lines };
    }
  }
}

async function* openSources(log: Snapshots): AsyncGenerator<Source> {
  const { active, size, closed } = log.takeSnapshot();
  try {
    yield { shared: active, end: size };
  } finally {
    await active.release();
  }
  for (const path of closed) {
    const handle = await openIfThere(path);
    if (handle) {
      const shared = shareHandle(handle);
      try {
        yield { shared, end: (await handle.stat()).size };
      } finally {
        await shared.release();
      }
    }
  }
}

/** Retention, or a person, may delete a segment at any time. */
const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
};
