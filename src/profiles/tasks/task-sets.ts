import { priorities, statuses, type Task } from './schema.ts';
import type { TaskFilter } from './store.ts';

/** The set of tasks whose text is ASCII. It comes behind the sets of the filters. */
export const asciiSet = (statuses.length + 1) * (priorities.length + 1);

/** For each status or any, each priority or any, one set: every filter is answered by a set of its own. */
export const setCount = asciiSet + 1;

/** The set that a filter names; undefined when it can match nothing. Set 0 has every task. */
export const toSet = ({ status, priority }: TaskFilter): number | undefined => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return row === -1 || column === -1 ? undefined : toNumber(row, column);
};

/** The sets that a task with that text is in, as a number with the bit of each of them. */
export const toMemberships = ({ Status, Priority }: Task, text: string): number => {
  const row = toPosition(statuses, Status);
  const column = toPosition(priorities, Priority);
  const isAscii = Buffer.byteLength(text) === text.length;
  const filters = 1 | (1 << toNumber(row, 0)) | (1 << toNumber(0, column)) | (1 << toNumber(row, column));
  return filters | (Number(isAscii) << asciiSet);
};

const toNumber = (row: number, column: number): number => row * (priorities.length + 1) + column;

/** 0 for any value, from 1 on the place of a value, -1 for one that there is not. */
const toPosition = (values: readonly string[], value: string | undefined): number => {
  if (value === undefined) return 0;
  return values.indexOf(value) + 1 || -1;
};
