import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Task, TaskNotice } from 'signalbox/client';
import { ApiError, client } from '../api.ts';
import { subscribe } from '../live/live.ts';
import { session } from '../session.ts';
import type { TaskCriteria } from './filter.ts';
import { createTaskPages } from './pages.ts';

/** Maximum number of changed tasks that are loaded one by one. After more changes, the lists are reloaded. */
const mostSingle = 20;
/** Milliseconds for which changes are collected. */
const calm = 100;
/** Maximum share of time spent reloading lists. */
const share = 1 / 20;

/** Loads task lists for these filters, updated live. A task that changes may move between lists. */
export const useTaskList = (filters: readonly TaskCriteria[]): LiveTasks => {
  const before = useRef<LiveTasks | undefined>(undefined);
  const key = JSON.stringify(filters);
  const token = session.value?.token;
  const list = useMemo(() => createTaskList(filters, before.current?.known()), [key, token]);
  before.current = list;
  useEffect(() => list.start(), [list]);
  return list;
};

const createTaskList = (filters: readonly TaskCriteria[], shown: Task[] | undefined) => {
  const aborted = new AbortController();
  const pages = filters.map((filter) => createTaskPages(filter, shown, aborted.signal));
  /** Task in the open dialog, possibly one that is in none of the lists. Null if the task does not exist. */
  const opened = signal<Task | null | undefined>(undefined);
  const changed = new Set<number>();
  const gone = new Set<number>();
  let isStale = true;
  let restUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Returns all loaded tasks, newest first. */
  const known = (): Task[] | undefined => {
    const all = pages.flatMap(({ state }) => state.peek().tasks ?? []);
    return pages.some(({ state }) => state.peek().tasks) ? all.sort((a, b) => b.Id - a.Id) : undefined;
  };

  const find = (id: number): Task | undefined => pages.map((each) => each.find(id)).find((task) => task);

  const put = (task: Task): void => {
    for (const each of pages) each.put(task);
    if (opened.value?.Id === task.Id) opened.value = task;
  };

  const drop = (id: number): void => {
    gone.add(id);
    changed.delete(id);
    for (const each of pages) each.drop(id);
    if (opened.value?.Id === id) opened.value = null;
  };

  const readOne = async (id: number): Promise<Task | null> => {
    try {
      const task = await client.getTask({ id }, { signal: aborted.signal });
      put(task);
      return task;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      drop(id);
      return null;
    }
  };

  const open = async (id: number): Promise<void> => {
    const task = find(id) ?? (opened.peek()?.Id === id ? opened.peek() : undefined);
    opened.value = task;
    // A failed request is repeated on the next event.
    if (!task) opened.value = await readOne(id).catch(() => undefined);
  };

  const read = async (): Promise<void> => {
    const isWhole = isStale || changed.size > mostSingle;
    const open = opened.peek()?.Id;
    const ids = isWhole ? (open === undefined ? [] : [open]) : [...changed];
    changed.clear();
    isStale = false;
    const started = performance.now();
    if (isWhole) await Promise.all(pages.map((each) => each.read()));
    await Promise.allSettled(ids.map(readOne));
    if (isWhole) restUntil = performance.now() + (performance.now() - started) / share;
    else await Promise.allSettled(pages.map((each) => each.recount()));
    timer = undefined;
    if (!aborted.signal.aborted && (isStale || changed.size > 0)) schedule();
  };

  const schedule = (): void => {
    const isWhole = isStale || changed.size > mostSingle;
    timer ??= setTimeout(read, isWhole ? Math.max(0, restUntil - performance.now()) : calm);
  };

  const onEvent = ({ id, kind }: TaskNotice): void => {
    if (kind === 'deleted') drop(id);
    else changed.add(id);
    schedule();
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

  return { pages, opened, known, start, find, open, put, drop, isGone: (id: number) => gone.has(id), retry: resync };
};

export type LiveTasks = ReturnType<typeof createTaskList>;
