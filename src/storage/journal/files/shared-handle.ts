import type { FileHandle } from 'node:fs/promises';

/** An open file with several users; the last release closes it. */
export interface SharedHandle {
  readonly handle: FileHandle;
  retain(): void;
  release(): Promise<void>;
}

export const shareHandle = (handle: FileHandle): SharedHandle => {
  let users = 1;
  return {
    handle,
    retain: () => {
      users += 1;
    },
    release: async () => {
      users -= 1;
      if (users === 0) await handle.close();
    },
  };
};
