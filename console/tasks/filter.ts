import type { TaskPriority as Priority, TaskStatus as Status } from 'signalbox/client';
import { place, setParams } from '../router.ts';

/** What is asked of the server; a text that is undefined is no filter. */
export interface TaskFilter {
  status?: Status | undefined;
  priority?: Priority | undefined;
  /** Contained in the title, in any case. */
  q?: string | undefined;
}

/** In the order of the board's columns. */
export const statuses: readonly Status[] = ['Pending', 'InProgress', 'Completed', 'Cancelled'];
export const priorities: readonly Priority[] = ['Low', 'Medium', 'High', 'Critical'];

const names = ['status', 'priority', 'q'] as const;

/** The filter that the address holds. */
const readFilter = (): TaskFilter => {
  const { params } = place.value;
  return Object.fromEntries(names.map((name) => [name, params[name]?.slice(0, 256) || undefined]));
};

/** One filter for the table; for the board one for each column that the address's filter does not leave empty. */
export const readFilters = (): TaskFilter[] => {
  const filter = readFilter();
  if (!isBoard()) return [filter];
  return statuses
    .filter((status) => !filter.status || filter.status === status)
    .map((status) => ({ ...filter, status }));
};

export const hasFilter = (): boolean => names.some((name) => place.value.params[name]);

export const clearFilter = (): void => setParams(Object.fromEntries(names.map((name) => [name, undefined])));

export const isBoard = (): boolean => place.value.params['view'] === 'board';
