import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Topics } from 'signalbox/client';
import { type ApiError, client } from '../api.ts';
import { liveState, subscribe } from '../live/live.ts';
import { toApiError } from '../live/resource.ts';

export interface Process {
  pid: number;
  name: string;
  /** CPU usage, where 1 is a full CPU. Null until there are two readings. */
  cpu: number | null;
  /** CPU time in seconds since the process started. */
  cpuSeconds: number | null;
  memoryBytes: number;
  /** Parent process. Like all optional fields, only events contain it. */
  parentPid?: number | null;
  user?: string | null;
  threads?: number | null;
  startedAt?: string | null;
}

/** List of processes at a point in time, sorted by memory, largest first. */
export interface Reading {
  /** Milliseconds since 1970, by the browser's clock. */
  time: number;
  /** Number of all processes. `processes` contains only the first of them. */
  count: number;
  processes: Process[];
}

interface State {
  reading: Reading | undefined;
  error: ApiError | undefined;
}

const top = 2000;
/** Milliseconds after which a reading is stale if no event follows. */
const fresh = 3000;
/** Milliseconds to wait for the first event. Events have more fields than responses. */
const openingTime = 1000;
/** Minimum milliseconds between readings for a meaningful CPU share. */
const leastBetween = 1000;

/** Loads the list of processes and updates it by events or, if there are none, by requests. */
export const useProcesses = (): State & { retry: () => void } => {
  const source = useMemo(createSource, []);
  useEffect(() => source.start(), [source]);
  return { ...source.state.value, retry: source.retry };
};

const createSource = () => {
  const state = signal<State>({ reading: undefined, error: undefined });
  const aborted = new AbortController();
  let eventAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isFresh = () => Date.now() - eventAt < fresh;

  const onEvent = ({ count, data: processes }: Topics['processes']): void => {
    eventAt = Date.now();
    show({ time: eventAt, count, processes });
  };

  const load = async (): Promise<void> => {
    timer = undefined;
    if (isFresh()) return;
    try {
      const { data } = await client.listProcesses({ top }, { signal: aborted.signal });
      if (isFresh()) return;
      const processes = data.map(({ pid, name, memoryMB, cpu }) => ({
        pid,
        name,
        cpu: null,
        cpuSeconds: cpu,
        memoryBytes: memoryMB * 1024 ** 2,
      }));
      show({ time: Date.now(), count: data.length, processes });
    } catch (reason) {
      if (!aborted.signal.aborted) state.value = { ...state.value, error: toApiError(reason) };
    }
  };

  const show = (reading: Reading): void => {
    const before = state.value.reading;
    state.value = { reading: before ? addShares(before, reading) : reading, error: undefined };
  };

  const schedule = (): void => {
    timer ??= setTimeout(load, liveState.peek() === 'polling' ? 0 : openingTime);
  };

  const start = () => {
    schedule();
    const leave = subscribe('processes', { onEvent, onResync: schedule });
    return () => {
      leave();
      clearTimeout(timer);
      aborted.abort();
    };
  };

  return { state, start, retry: () => void load() };
};

/** Adds each process's CPU share since the earlier reading. */
const addShares = (before: Reading, reading: Reading): Reading => {
  const earlier = new Map(before.processes.map((process) => [process.pid, process]));
  const passed = reading.time - before.time;
  const processes = reading.processes.map((process) => {
    if (process.cpu !== null) return process;
    const { name, cpu = null, cpuSeconds = null } = earlier.get(process.pid) ?? {};
    if (name !== process.name || process.cpuSeconds === null || cpuSeconds === null) return process;
    if (passed < leastBetween) return { ...process, cpu };
    return { ...process, cpu: Math.max(0, ((process.cpuSeconds - cpuSeconds) * 1000) / passed) };
  });
  return { ...reading, processes };
};
