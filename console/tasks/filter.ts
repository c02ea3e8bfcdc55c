import { place, setParams } from '../router.ts';
import type { Priority, Status, Task } from './calls.ts';

/** In the order of the board's columns. */
export const statuses: readonly Status[] = ['Pending', 'InProgress', 'Completed', 'Cancelled'];
export const priorities: readonly Priority[] = ['Low', 'Medium', 'High', 'Critical'];

const names = ['status', 'priority', 'q'] as const;

export const hasFilter = (): boolean => names.some((name) => place.value.params[name]);

export const clearFilter = (): void => setParams(Object.fromEntries(names.map((name) => [name, undefined])));

export const isBoard = (): boolean => place.value.params['view'] === 'board';

/** The tasks that match the address's `status` and `priority`, as in the API, and `q`; the newest first. */
export const filterTasks = (tasks: readonly Task[]): readonly Task[] => {
  const { status, priority, q = '' } = place.value.params;
  const asked = q.toLowerCase();
  return tasks
    .filter(
      (task) =>
        (!status || task.Status === status) &&
        (!priority || task.Priority === priority) &&
        (!asked || task.Title.toLowerCase().includes(asked)),
    )
    .reverse();
};

/** How many tasks have each status and each priority. */
export const countTasks = (tasks: readonly Task[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { Status: status, Priority: priority } of tasks) {
    counts[status] = (counts[status] ?? 0) + 1;
    counts[priority] = (counts[priority] ?? 0) + 1;
  }
  return counts;
};
