import { signal } from '@preact/signals';
import type { Task, TaskChanges } from 'signalbox/client';

/** `mine` and `theirs`: which version is kept; `neither`: the user goes on editing. */
export type KeptVersion = 'mine' | 'theirs' | 'neither';

/** A task that somebody else has changed while the user did. */
export interface Versions {
  /** As the user began to change it. */
  before: Task;
  /** What the user changes; undefined to delete the task. */
  changes: TaskChanges | undefined;
  /** As it is stored now. */
  theirs: Task;
}

interface Conflict extends Versions {
  answer(choice: KeptVersion): void;
}

/** The conflict that the user is asked about. */
export const conflict = signal<Conflict | undefined>(undefined);

/** Shows both versions and asks which one to keep. */
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

/** What the user can change. */
export const fields = ['Title', 'Description', 'Priority', 'Status'] as const;

/** Whether somebody else has changed what the user changes, to something else; any field, if the task is to be deleted. */
export const isTaskConflict = ({ before, changes, theirs }: Versions): boolean =>
  fields.some(
    (field) =>
      theirs[field] !== before[field] &&
      (!changes || (changes[field] !== undefined && changes[field] !== theirs[field])),
  );
