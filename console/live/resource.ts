import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Topics } from 'signalbox/client';
import { ApiError } from '../api.ts';
import { hasExpired, session } from '../session.ts';
import { text } from '../strings/index.ts';
import { subscribe } from './live.ts';
import type { LiveTopic } from './topics.ts';

/** Value loaded from the server. The last value remains during a reload and after a failure. */
export interface Resource<T> {
  value: T | undefined;
  error: ApiError | undefined;
  reload(): void;
  /** Reloads like `reload`, but only once for several calls. */
  reloadSoon(): void;
}

interface Options<T, K extends LiveTopic> {
  /** Reloads when this key changes. */
  key?: string;
  /** Reloads on events on this topic. */
  topic?: K;
  /** True to keep the value while an expired session is renewed, for forms based on the value. */
  isKept?: boolean;
  /** Milliseconds to wait after an event, so that many events cause only one request. */
  calm?: number;
  /** Computes the value from the data of an event, instead of reloading. */
  replace?: (data: Topics[K]) => T;
  /** Applies the data of an event to the value, instead of reloading. */
  apply?: (data: Topics[K], before: T | undefined) => T | undefined;
  /** Milliseconds for which events are collected before `apply`, so that many events cause only one change. */
  batch?: number;
}

/** Minimum milliseconds between reloads caused by events, regardless of `calm`. */
const leastBetween = 200;

/** Loads a value from the server and keeps it current. */
export const useResource = <T, K extends LiveTopic = never>(
  load: (signal: AbortSignal) => Promise<T>,
  options: Options<T, K> = {},
): Resource<T> => {
  const { key = '', topic, calm = 0, isKept = false, replace, apply, batch = 0 } = options;
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  /** Key, without the token, that the value was loaded for. */
  const readFor = useRef<string | undefined>(undefined);
  const token = session.value?.token;
  const resource = useMemo(() => createLoader(load, value, error, calm, isKept, key, readFor), [key, token]);
  useEffect(() => {
    resource.reload();
    let waiting: Topics[K][] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const applyAll = (): void => {
      timer = undefined;
      value.value = waiting.reduce((before, data) => apply?.(data, before), value.value);
      waiting = [];
      resource.repeatIfRunning();
    };
    const onEvent = (data: Topics[K]): void => {
      if (replace) resource.replace(replace(data));
      else if (apply) {
        waiting.push(data);
        if (batch === 0) applyAll();
        else timer ??= setTimeout(applyAll, batch);
      } else resource.reloadSoon();
    };
    const leave = topic && subscribe(topic, { onEvent, onResync: resource.resync });
    return () => {
      leave?.();
      clearTimeout(timer);
      resource.stop();
    };
  }, [resource, topic]);
  return { value: value.value, error: error.value, reload: resource.reload, reloadSoon: resource.reloadSoon };
};

/** Calls `onEvent` for each event on a topic other than the resource's own. */
export const useEvents = (topic: LiveTopic, onEvent: () => void): void =>
  useEffect(() => subscribe(topic, { onEvent, onResync: () => undefined }), [onEvent]);

const createLoader = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  value: { value: T | undefined },
  error: { value: ApiError | undefined },
  calm: number,
  isKept: boolean,
  key: string,
  readFor: { current: string | undefined },
) => {
  const aborted = new AbortController();
  let running = false;
  let isWanted = false;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let replacements = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reload = async (): Promise<void> => {
    isWanted = true;
    if (running) return;
    running = true;
    while (isWanted && !aborted.signal.aborted) {
      isWanted = false;
      const before = replacements;
      try {
        const data = await load(aborted.signal);
        if (aborted.signal.aborted) break;
        // An event received during the request is newer.
        if (replacements === before) value.value = data;
        readFor.current = key;
        error.value = undefined;
      } catch (reason) {
        if (aborted.signal.aborted) break;
        error.value = toApiError(reason);
        // Values that only users may see are removed when the session ends.
        const isGone = error.value.problem === 'login' && !(isKept && hasExpired.value);
        if (isGone || readFor.current !== key || error.value.status === 403) value.value = undefined;
      }
      loadedAt = Date.now();
    }
    running = false;
  };
  const reloadSoon = (): void => {
    const rest = loadedAt + leastBetween - Date.now();
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void reload();
      },
      Math.max(calm, rest),
    );
  };
  const resync = (): void => (Date.now() - loadedAt < calm ? reloadSoon() : void reload());
  const replace = (data: T): void => {
    replacements += 1;
    readFor.current = key;
    value.value = data;
  };
  /** Repeats a running request if its response may be older than the event. */
  const repeatIfRunning = (): void => {
    if (running) reloadSoon();
  };
  const stop = (): void => {
    clearTimeout(timer);
    aborted.abort();
  };
  return { reload: () => void reload(), reloadSoon, repeatIfRunning, resync, replace, stop };
};

/** Converts a thrown value to an error with a message for the user. */
export const toApiError = (reason: unknown): ApiError =>
  reason instanceof ApiError ? reason : new ApiError('refused', `${text.errors.unexpected} ${String(reason)}`);
