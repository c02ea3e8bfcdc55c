import type { OpenChanges } from '../../src/storage/changes.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { openKeptChanges } from '../../src/storage/kept-changes.ts';

/** Opens change logs in the folder. */
export const keepIn =
  (directory: string): OpenChanges =>
  (name, state, onLost) =>
    openKeptChanges(
      {
        directory,
        openJournal: (options) => openJournal({ directory, name, ...options }),
        report: (error) => {
          throw error;
        },
      },
      name,
      state,
      onLost,
    );
