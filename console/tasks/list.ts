import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError, send } from '../api.ts';
import { subscribe } from '../live/live.ts';
import { toApiError } from '../live/resource.ts';
import { getTask, listTasks, type Task } from './calls.ts';

interface State {
  /** In order of creation; undefined until they are read. */
  tasks: readonly Task[] | undefined;
  /** Tasks on the server. */
  total: number;
  error: ApiError | undefined;
}

/** Most tasks that are read; more would not fit into a tab's memory. */
const mostRead = 200_000;
/** Milliseconds to wait for all of them, over a slow network. */
const patience = 120_000;
/** Changed tasks that are read one by one; after more changes the whole list is read. */
const mostSingle = 20;
/** Milliseconds in which changes are gathered. */
const calm = 100;
/** Reading the whole list may take this share of the time. */
const share = 1 / 20;

/** All tasks, kept current. */
export const useTaskList = (): TaskList => {
  const list = useMemo(createTaskList, []);
  useEffect(() => list.start(), [list]);
  return list;
};

const createTaskList = () => {
  const state = signal<State>({ tasks: undefined, total: 0, error: undefined });
  const aborted = new AbortController();
  const changed = new Set<number>();
  /** Deleted while the list was being read, which may still have them. */
  const gone = new Set<number>();
  let isStale = true;
  let restUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = (changes: Partial<State>): void => {
    state.value = { ...state.value, ...changes };
  };

  const put = (task: Task): void => {
    const { tasks = [], total } = state.value;
    const at = findPlace(tasks, task.Id);
    const isKnown = tasks[at]?.Id === task.Id;
    update({ tasks: tasks.toSpliced(at, isKnown ? 1 : 0, task), total: total + (isKnown ? 0 : 1) });
  };

  const drop = (id: number): void => {
    const { tasks = [], total } = state.value;
    gone.add(id);
    changed.delete(id);
    const at = findPlace(tasks, id);
    if (tasks[at]?.Id === id) update({ tasks: tasks.toSpliced(at, 1), total: total - 1 });
  };

  const readAll = async (): Promise<void> => {
    const started = performance.now();
    gone.clear();
    const { data, total } = await send(listTasks, { query: { limit: mostRead }, signal: aborted.signal, patience });
    restUntil = performance.now() + (performance.now() - started) / share;
    const tasks = gone.size === 0 ? data : data.filter(({ Id: id }) => !gone.has(id));
    update({ tasks, total, error: undefined });
  };

  const readOne = async (id: number): Promise<void> => {
    try {
      put(await send(getTask, { params: { id }, signal: aborted.signal }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      drop(id);
    }
  };

  const read = async (): Promise<void> => {
    const ids = [...changed];
    const isWhole = isStale || ids.length > mostSingle;
    changed.clear();
    isStale = false;
    try {
      if (isWhole) await readAll();
      else await Promise.all(ids.map(readOne));
    } catch (reason) {
      if (!aborted.signal.aborted) update({ error: toApiError(reason) });
    }
    timer = undefined;
    if (!aborted.signal.aborted && (isStale || changed.size > 0)) schedule();
  };

  const schedule = (): void => {
    const isWhole = isStale || changed.size > mostSingle;
    timer ??= setTimeout(read, isWhole ? Math.max(0, restUntil - performance.now()) : calm);
  };

  const onEvent = (data: unknown): void => {
    const { id, kind } = data as { id: number; kind: string };
    if (kind === 'deleted') drop(id);
    else changed.add(id);
    if (changed.size > 0) schedule();
  };

  const resync = (): void => {
    isStale = true;
    schedule();
  };

  const start = () => {
    resync();
    const leave = subscribe('tasks', { onEvent, onResync: resync });
    return () => {
      leave();
      clearTimeout(timer);
      aborted.abort();
    };
  };

  return { state, start, put, drop, retry: resync };
};

export type TaskList = ReturnType<typeof createTaskList>;

/** Where a task with this id is, or belongs. */
const findPlace = (tasks: readonly Task[], id: number): number => {
  let low = 0;
  let high = tasks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tasks[middle]?.Id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
};
