import { priorities, statuses } from './schema.ts';
import type { TaskFilter } from './store.ts';
import type { TaskEntry } from './task-text.ts';

/** Number of sets. Each filter has one set, for a status or any status combined with a priority or any priority. */
export const setCount = (statuses.length + 1) * (priorities.length + 1);

// A task's sets are bits of a 32-bit number.
if (setCount > 32) throw new Error(`${setCount} sets of tasks do not fit into 32 bits`);

/** Returns the set of a filter. Undefined if no task can match. Set 0 contains all tasks. */
export const toSet = ({ status, priority }: TaskFilter): number | undefined => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return row === -1 || column === -1 ? undefined : toSetNumber(row, column);
};

/** Returns the sets that contain a task, as a number with one bit per set. */
export const toMemberships = ({ status, priority }: Pick<TaskEntry, 'status' | 'priority'>): number => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return 1 | (1 << toSetNumber(row, 0)) | (1 << toSetNumber(0, column)) | (1 << toSetNumber(row, column));
};

/** Returns 0 for undefined, the position (counted from 1) for a known value, and -1 for an unknown value. */
export const toPosition = (values: readonly string[], value: string | undefined): number =>
  value === undefined ? 0 : values.indexOf(value) + 1 || -1;

const toSetNumber = (row: number, column: number): number => row * (priorities.length + 1) + column;
