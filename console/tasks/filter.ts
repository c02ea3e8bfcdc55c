import type { TaskPriority as Priority, TaskStatus as Status } from 'signalbox/client';
import { createAddressChoice, createAddressFilter } from '../list-address.ts';

/** What is asked of the server; a text that is undefined is no filter. */
export interface TaskCriteria {
  status?: Status | undefined;
  priority?: Priority | undefined;
  /** Contained in the title, in any case. */
  q?: string | undefined;
}

/** In the order of the board's columns. */
export const taskStatuses: readonly Status[] = ['Pending', 'InProgress', 'Completed', 'Cancelled'];
export const taskPriorities: readonly Priority[] = ['Low', 'Medium', 'High', 'Critical'];

export const taskFilter = createAddressFilter(['status', 'priority', 'q']);

/** The most characters that the server searches for. */
const mostSearched = 256;

/** One filter for the table; for the board one for each column that the address's filter does not leave empty. */
export const readFilters = (): TaskCriteria[] => {
  const { q, ...others } = taskFilter.read();
  const filter = { ...others, q: q?.slice(0, mostSearched) } as TaskCriteria;
  if (!isBoard()) return [filter];
  return taskStatuses
    .filter((status) => !filter.status || filter.status === status)
    .map((status) => ({ ...filter, status }));
};

export const viewChoice = createAddressChoice('view', ['table', 'board'], 'table');

export const isBoard = (): boolean => viewChoice.read() === 'board';
