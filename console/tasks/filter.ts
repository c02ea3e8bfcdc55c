import type { TaskPriority as Priority, TaskStatus as Status } from 'signalbox/client';
import { createAddressChoice, createAddressFilter } from '../list-address.ts';

/** Query for the server. Undefined texts do not filter. */
export interface TaskCriteria {
  status?: Status | undefined;
  priority?: Priority | undefined;
  /** Part of the title, regardless of case. */
  q?: string | undefined;
}

/** Statuses, in the order of the board's columns. */
export const taskStatuses: readonly Status[] = ['Pending', 'InProgress', 'Completed', 'Cancelled'];
export const taskPriorities: readonly Priority[] = ['Low', 'Medium', 'High', 'Critical'];

export const taskFilter = createAddressFilter(['status', 'priority', 'q']);

/** Maximum length of a search text that the server accepts. */
const maxSearchLength = 256;

/** Reads filters from the URL: one filter for the table, or one filter per non-empty column for the board. */
export const readFilters = (): TaskCriteria[] => {
  const { q, ...others } = taskFilter.read();
  const filter = { ...others, q: q?.slice(0, maxSearchLength) } as TaskCriteria;
  if (!isBoard()) return [filter];
  return taskStatuses
    .filter((status) => !filter.status || filter.status === status)
    .map((status) => ({ ...filter, status }));
};

export const viewChoice = createAddressChoice('view', ['table', 'board'], 'table');

export const isBoard = (): boolean => viewChoice.read() === 'board';
