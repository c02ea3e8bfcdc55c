import { signal } from '@preact/signals';
import type { Task } from 'signalbox/client';
import { type ApiError, client } from '../api.ts';
import { toApiError } from '../live/resource.ts';
import type { TaskCriteria } from './filter.ts';

interface State {
  /** Loaded tasks, newest first. Undefined until the first page is loaded. */
  tasks: readonly Task[] | undefined;
  /** Number of matching tasks on the server. */
  total: number;
  isLoading: boolean;
  error: ApiError | undefined;
}

/** Page size. Also applies when loading by scrolling. The server's maximum is 1000. */
const pageSize = 200;
const nextPageSize = 1000;
/** Maximum number of tasks in a list, to limit memory. */
const mostKept = 20_000;

/** Loads the tasks that match a filter, page by page. Shows the tasks in `known` until the first page is loaded. */
export const createTaskPages = (filter: TaskCriteria, known: readonly Task[] | undefined, stop: AbortSignal) => {
  const state = signal<State>({
    tasks: known?.filter((task) => isMatch(task, filter)),
    total: 0,
    isLoading: true,
    error: undefined,
  });
  const update = (changes: Partial<State>): void => {
    if (!stop.aborted) state.value = { ...state.value, ...changes };
  };
  /** Changes made since a page was requested. The page may not contain them. */
  let missedChanges: (() => void)[] = [];
  let isSure = true;

  const ask = async (before: number | undefined, limit: number) => {
    missedChanges = [];
    const page = { order: 'newest', before: before === undefined ? undefined : String(before), limit };
    return client.listTasks({ ...filter, ...page }, { signal: stop });
  };

  /** Reloads as many tasks as were loaded, at least the first page. */
  const read = async (): Promise<void> => {
    update({ isLoading: true });
    const wanted = state.value.total === 0 ? 0 : (state.value.tasks?.length ?? 0);
    const tasks: Task[] = [];
    try {
      for (;;) {
        const rest = Math.min(nextPageSize, wanted - tasks.length);
        const { data, total } = await ask(tasks.at(-1)?.Id, Math.max(pageSize, rest));
        tasks.push(...data);
        update({ total });
        if (data.length === 0 || tasks.length >= Math.min(wanted, total)) break;
      }
      const missed = missedChanges;
      update({ tasks, isLoading: false, error: undefined });
      for (const apply of missed) apply();
      isSure = true;
    } catch (reason) {
      update({ isLoading: false, error: toApiError(reason) });
    }
  };

  const readMore = async (): Promise<void> => {
    const { tasks = [], isLoading } = state.value;
    if (isLoading || !hasMore()) return;
    update({ isLoading: true });
    try {
      const last = tasks.at(-1)?.Id;
      const { data, total } = await ask(last, nextPageSize);
      const missed = missedChanges;
      const before = state.value.tasks ?? [];
      // An empty page is the end, whatever the total.
      const all = [...before, ...data.filter(({ Id: id }) => id < (before.at(-1)?.Id ?? Number.POSITIVE_INFINITY))];
      update({ tasks: all, total: data.length === 0 ? all.length : total, isLoading: false, error: undefined });
      for (const apply of missed) apply();
    } catch (reason) {
      update({ isLoading: false, error: toApiError(reason) });
    }
  };

  /** Counts matches again after a change to a task that is not loaded. */
  const recount = async (): Promise<void> => {
    if (isSure) return;
    isSure = true;
    const { total } = await client.listTasks({ ...filter, order: 'newest', limit: 0 }, { signal: stop });
    update({ total });
  };

  const hasMore = (): boolean => (state.value.tasks?.length ?? 0) < Math.min(state.value.total, mostKept);

  const put = (task: Task): void => {
    const { tasks, total, isLoading } = state.value;
    if (isLoading) missedChanges.push(() => put(task));
    if (!tasks) return;
    const at = findPlace(tasks, task.Id);
    const isKnown = tasks[at]?.Id === task.Id;
    const matches = isMatch(task, filter);
    if (isKnown || (matches && (at < tasks.length || tasks.length >= total))) {
      const added = Number(matches) - Number(isKnown);
      update({ tasks: tasks.toSpliced(at, Number(isKnown), ...(matches ? [task] : [])), total: total + added });
    } else if (tasks.length < total) isSure = false;
  };

  const drop = (id: number): void => {
    const { tasks, total, isLoading } = state.value;
    if (isLoading) missedChanges.push(() => drop(id));
    if (!tasks) return;
    const at = findPlace(tasks, id);
    if (tasks[at]?.Id === id) update({ tasks: tasks.toSpliced(at, 1), total: total - 1 });
    else if (tasks.length < total) isSure = false;
  };

  const find = (id: number): Task | undefined => {
    const { tasks = [] } = state.value;
    const found = tasks[findPlace(tasks, id)];
    return found?.Id === id ? found : undefined;
  };

  return { filter, state, read, readMore, recount, hasMore, put, drop, find };
};

export type TaskPages = ReturnType<typeof createTaskPages>;

/** True if the server would find the task with this filter. */
const isMatch = ({ Status, Priority, Title }: Task, { status, priority, q }: TaskCriteria): boolean =>
  (!status || Status === status) &&
  (!priority || Priority === priority) &&
  (!q || Title.toLowerCase().includes(q.toLowerCase()));

/**
 * Returns the index of the task with this id. If the task is not in the list, returns the index at which to insert it.
 */
const findPlace = (tasks: readonly Task[], id: number): number => {
  let low = 0;
  let high = tasks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tasks[middle]?.Id ?? 0) > id) low = middle + 1;
    else high = middle;
  }
  return low;
};
