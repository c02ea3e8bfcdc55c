import type { AlertEntry } from 'signalbox/client';

/** Alert with the number of its repeats in the list. */
export interface Folded {
  /** Newest of the repeats. */
  alert: AlertEntry;
  count: number;
  /** Row key. It stays the same when another repeat arrives. */
  row: string | number;
}

/** Cached key of each alert, because each new page folds the whole list again. */
const keys = new WeakMap<AlertEntry, string>();

const toKey = (alert: AlertEntry): string => {
  const { severity, source, hostname, message, status } = alert;
  const key = keys.get(alert) ?? JSON.stringify([severity, source, hostname, message, status]);
  keys.set(alert, key);
  return key;
};

/** Short row ids that replace the keys, because keys are as long as messages. */
const rows = new Map<string, number>();
const mostRows = 100_000;
let nextRow = 0;

const toRow = (key: string): number => {
  if (rows.size > mostRows) rows.clear();
  const row = rows.get(key) ?? nextRow++;
  rows.set(key, row);
  return row;
};

/** Folds alerts that differ only in time into one row, at the position of the newest alert. */
export const fold = (alerts: readonly AlertEntry[]): Folded[] => {
  const found = new Map<string, Folded>();
  for (const alert of alerts) {
    const key = toKey(alert);
    const same = found.get(key);
    if (same) same.count += 1;
    else found.set(key, { alert, count: 1, row: toRow(key) });
  }
  return [...found.values()];
};

export const unfold = (alerts: readonly AlertEntry[]): Folded[] =>
  alerts.map((alert) => ({ alert, count: 1, row: `${alert.seq}` }));
