import type { OpenChanges } from '../../src/storage/changes.ts';
import { openFileChanges } from '../../src/storage/file-changes.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';

/** Creates a function that opens change logs in the folder. */
export const keepIn =
  (directory: string): OpenChanges =>
  (name, state, onLost) =>
    openFileChanges(
      {
        directory,
        openLog: (options) => openJournal({ directory, name, ...options }),
        report: (error) => {
          throw error;
        },
      },
      name,
      state,
      onLost,
    );
