import type { AlertEntry } from 'signalbox/client';

/** An alert, and how many like it there are in the list. */
export interface Folded {
  /** The newest of them. */
  alert: AlertEntry;
  count: number;
  /** Stays the same when another one comes in. */
  row: string | number;
}

/** Made once for each alert: long lists are folded again with each page. */
const keys = new WeakMap<AlertEntry, string>();

const toKey = (alert: AlertEntry): string => {
  const { severity, source, hostname, message, status } = alert;
  const key = keys.get(alert) ?? JSON.stringify([severity, source, hostname, message, status]);
  keys.set(alert, key);
  return key;
};

/** Numbers in place of keys, which are as long as messages. */
const rows = new Map<string, number>();
const mostRows = 100_000;
let nextRow = 0;

const toRow = (key: string): number => {
  if (rows.size > mostRows) rows.clear();
  const row = rows.get(key) ?? nextRow++;
  rows.set(key, row);
  return row;
};

/** Alerts that differ only in time become one, at the place of the newest. */
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
