import { openChangeLog } from '../../src/storage/changes/change-log.ts';
import type { OpenChanges } from '../../src/storage/changes/changes.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';

/** Opens changes that are kept in the folder. */
export const keepIn =
  (directory: string): OpenChanges =>
  (name, state, onLost) =>
    openChangeLog(
      {
        directory,
        openJournal: (options, isExpected) => openJournal({ directory, name, ...options, report: isExpected }),
        report: (error) => {
          throw error;
        },
      },
      name,
      state,
      onLost,
    );
