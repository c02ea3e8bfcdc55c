import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { AlertEntry } from 'signalbox/client';
import { type ApiError, client } from '../api.ts';
import { session } from '../session.ts';
import { type AlertFilter, alertMatches } from './alerts.ts';
import { subscribe } from './live.ts';
import { toApiError } from './resource.ts';

interface State {
  /** Loaded alerts, newest first. Undefined until the first page is loaded. */
  alerts: AlertEntry[] | undefined;
  /** Newer alerts that are held back while the user reads further down. This keeps rows in place. */
  held: AlertEntry[];
  /** Cursor of the next page. Null after the last page. */
  next: number | null;
  isLoading: boolean;
  error: ApiError | undefined;
  /** Seq of the newest alert when the page was opened. */
  seenUpTo: number;
}

/** Page size. Also applies when loading by scrolling. */
const pageSize = 100;
const olderPageSize = 500;
/**
 * Maximum number of alerts in a list, to limit memory. Older alerts go to a new list that begins where this list ends.
 */
const mostKept = 20_000;
/** Maximum number of alerts waiting for the next frame. A hidden tab has no frames. */
const mostArrived = 1000;

/**
 * Loads the alerts that match the filter, updated live. While `isReading` returns true, new alerts are held back. With
 * `before`, loads only alerts before that seq, without updates.
 */
export const useAlertList = (filter: AlertFilter, before: number | undefined, isReading: () => boolean) => {
  const key = JSON.stringify({ filter, before });
  const token = session.value?.token;
  const list = useMemo(() => createList(filter, before, isReading), [key, token]);
  useEffect(() => list.start(), [list]);
  return list;
};

const createList = (filter: AlertFilter, start: number | undefined, isReading: () => boolean) => {
  const state = signal<State>({
    alerts: undefined,
    held: [],
    next: null,
    isLoading: true,
    error: undefined,
    seenUpTo: Number.POSITIVE_INFINITY,
  });
  const aborted = new AbortController();
  const update = (changes: Partial<State>) => {
    if (!aborted.signal.aborted) state.value = { ...state.value, ...changes };
  };
  const search = (page: { before?: number; limit: number }) =>
    client.searchAlerts({ ...filter, ...page }, { signal: aborted.signal });
  const begin = start === undefined ? {} : { before: start };
  /** Alerts received as events that are not in the list yet. A page that is being loaded may contain some of them. */
  let arrived: AlertEntry[] = [];
  let frame = 0;
  let syncing = 0;

  const addArrived = (): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (syncing > 0 || state.value.alerts === undefined) return;
    addNewer(arrived.splice(0).toReversed());
  };

  const addNewer = (newer: AlertEntry[]): void => {
    const { alerts: before = [], held } = state.value;
    const alerts = resolve(before, newer);
    const top = held[0]?.seq ?? alerts[0]?.seq ?? -1;
    const added = newer.filter(({ seq }) => seq > top);
    if (added.length === 0) return;
    if (isReading()) update({ alerts, held: [...added, ...held].slice(0, mostKept) });
    else update(keep([...added, ...held, ...alerts], { held: [] }));
  };

  const keep = (alerts: AlertEntry[], rest: Partial<State>): Partial<State> => {
    if (alerts.length <= mostKept) return { alerts, ...rest };
    return { alerts: alerts.slice(0, mostKept), next: alerts[mostKept - 1]?.seq ?? null, ...rest };
  };

  /** Loads the newest page, initially and whenever events may have been missed. */
  const sync = async (): Promise<void> => {
    syncing += 1;
    try {
      const { data, next } = await search({ ...begin, limit: pageSize });
      const { alerts, held, seenUpTo } = state.value;
      const top = held[0]?.seq ?? alerts?.[0]?.seq;
      const oldest = data.at(-1)?.seq ?? -1;
      const isConnected = top !== undefined && (oldest <= top || next === null);
      update({ isLoading: false, error: undefined, seenUpTo: Math.min(seenUpTo, data[0]?.seq ?? -1) });
      if (alerts && isConnected) addNewer(data);
      else update({ alerts: data, held: [], next });
    } catch (reason) {
      update({ isLoading: false, error: toApiError(reason) });
    } finally {
      syncing -= 1;
      addArrived();
    }
  };

  const loadOlder = async (): Promise<void> => {
    const { next, isLoading, alerts: before = [] } = state.value;
    if (next === null || isLoading || isFull(before)) return;
    update({ isLoading: true });
    try {
      const page = await search({ before: next, limit: olderPageSize });
      // The list changed during the request, so this page is already loaded or no longer comes next.
      if (state.value.next !== next) return update({ isLoading: false });
      const { alerts = [] } = state.value;
      update({ alerts: [...alerts, ...page.data], next: page.next, isLoading: false, error: undefined });
    } catch (reason) {
      update({ isLoading: false, error: toApiError(reason) });
    }
  };

  const onEvent = (data: AlertEntry): void => {
    if (!alertMatches(data, filter)) return;
    arrived.push(data);
    frame ||= requestAnimationFrame(addArrived);
    if (arrived.length >= mostArrived) addArrived();
    if (arrived.length > mostKept) arrived = arrived.slice(-mostKept / 2);
  };

  const run = () => {
    void sync();
    const leave = start === undefined && subscribe('alerts', { onEvent, onResync: () => void sync() });
    return () => {
      if (leave) leave();
      cancelAnimationFrame(frame);
      aborted.abort();
    };
  };

  const showHeld = (): void => {
    const { alerts = [], held } = state.value;
    update(keep([...held, ...alerts], { held: [] }));
  };

  return { state, start: run, loadOlder, showHeld, retry: () => void sync() };
};

/** Marks alerts as resolved if newer alerts resolve them. */
const resolve = (alerts: AlertEntry[], newer: readonly AlertEntry[]): AlertEntry[] => {
  const ends = new Map(newer.flatMap((each) => (each.resolves ? [[each.resolves, each] as const] : [])));
  if (ends.size === 0) return alerts;
  return alerts.map((alert) => {
    const end = ends.get(alert.id);
    return end ? { ...alert, resolvedBy: { id: end.id, time: end.time ?? end.timestamp } } : alert;
  });
};

/** True if the list cannot take more older alerts. */
export const isFull = (alerts: readonly AlertEntry[]): boolean => alerts.length >= mostKept;

export type LiveAlerts = ReturnType<typeof createList>;
