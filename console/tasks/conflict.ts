import { signal } from '@preact/signals';
import type { Task, TaskChanges } from 'signalbox/client';

/** Version to keep: `mine` or `theirs`. `neither` if the user continues editing. */
export type KeptVersion = 'mine' | 'theirs' | 'neither';

/** Task changed by two users at the same time. */
export interface Versions {
  /** Task as it was when the user began to edit. */
  before: Task;
  /** Fields changed by the user. Undefined for a deletion. */
  changes: TaskChanges | undefined;
  /** Stored task. */
  theirs: Task;
}

interface Conflict extends Versions {
  answer(choice: KeptVersion): void;
}

/** Conflict shown to the user. */
export const conflict = signal<Conflict | undefined>(undefined);

/** Shows both versions, and asks the user which version to keep. */
export const askWhich = (versions: Versions): Promise<KeptVersion> =>
  new Promise((resolve) => {
    conflict.peek()?.answer('neither');
    conflict.value = {
      ...versions,
      answer: (choice) => {
        conflict.value = undefined;
        resolve(choice);
      },
    };
  });

/** Editable fields. */
export const fields = ['Title', 'Description', 'Priority', 'Status'] as const;

/** True if others have changed the same fields to different values. For a deletion, any changed field is a conflict. */
export const isTaskConflict = ({ before, changes, theirs }: Versions): boolean =>
  fields.some(
    (field) =>
      theirs[field] !== before[field] &&
      (!changes || (changes[field] !== undefined && changes[field] !== theirs[field])),
  );
