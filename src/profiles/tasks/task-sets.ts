import { priorities, statuses, type Task } from './schema.ts';
import type { TaskFilter } from './store.ts';

/** One set for each combination of a status, or any, and a priority, or any: each filter has its own set. */
export const setCount = (statuses.length + 1) * (priorities.length + 1);

// A task's sets are the bits of one 32-bit number.
if (setCount > 32) throw new Error(`${setCount} sets of tasks do not fit into 32 bits`);

/** The set that a filter selects; undefined if it can match nothing. Set 0 has every task. */
export const toSet = ({ status, priority }: TaskFilter): number | undefined => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return row === -1 || column === -1 ? undefined : toNumber(row, column);
};

/** The sets that a task is in, as a number with one bit for each. */
export const toMemberships = ({ Status, Priority }: Pick<Task, 'Status' | 'Priority'>): number => {
  const row = toPosition(statuses, Status);
  const column = toPosition(priorities, Priority);
  return 1 | (1 << toNumber(row, 0)) | (1 << toNumber(0, column)) | (1 << toNumber(row, column));
};

/** 0 for any value, the position from 1 for a known value, -1 for an unknown one. */
export const toPosition = (values: readonly string[], value: string | undefined): number => {
  if (value === undefined) return 0;
  return values.indexOf(value) + 1 || -1;
};

const toNumber = (row: number, column: number): number => row * (priorities.length + 1) + column;
