import type { Static } from 'typebox';
import type {
  AlertDetails as Details,
  AlertEntry as Entry,
  AlertHistogram as Histogram,
  AlertPage as Page,
} from '../../src/profiles/alerts/reading/schema.ts';
import type { AlertList } from '../../src/profiles/alerts/schema.ts';
import type { Severity } from '../../src/profiles/severity.ts';
import { defineCall, send } from '../api.ts';
import { isMounted } from '../mounts.ts';
import { text } from '../strings/index.ts';
import { fromServer } from '../zone.ts';

/** An alert as search returns it, and as the topic `alerts` reports it. */
export type AlertEntry = Static<typeof Entry>;
/** Newest first; `next` is the `before` of the next page, null after the last. */
export type AlertPage = Pick<Static<typeof Page>, 'data' | 'next'>;
export type AlertDetails = Static<typeof Details>;
export type AlertHistogram = Static<typeof Histogram>;

/** What is searched for; a text that is undefined or empty is no filter. */
export interface AlertFilter {
  severity?: string | undefined;
  level?: string | undefined;
  source?: string | undefined;
  hostname?: string | undefined;
  status?: string | undefined;
  q?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

const fields = {
  timestamp: 'string',
  source: 'string',
  level: 'string',
  message: 'string',
  hostname: 'string',
} as const;
const entry = {
  seq: 'number',
  id: 'string',
  time: 'string?',
  labels: 'object?',
  severity: 'string',
  ...fields,
} as const;

export const listAlerts = defineCall<Pick<Static<typeof AlertList>, 'data'>>({
  ...{ profile: 'alerts', method: 'GET', path: '/api/alerts' },
  shape: { data: [fields] },
});

export const searchAlerts = defineCall<AlertPage>({
  ...{ profile: 'alerts', method: 'GET', path: '/api/alerts/search' },
  shape: { data: [entry], next: 'number?' },
});

export const isEntry = (value: unknown): value is AlertEntry =>
  typeof value === 'object' && value !== null && typeof (value as AlertEntry).seq === 'number';

/** The worst first. The server knows which levels they stand for. */
export const severities: readonly Severity[] = ['CRITICAL', 'ERROR', 'WARNING', 'INFO'];

/** What a server without search does not say. */
const unknown = {
  ...{ id: '', format: 'native', status: null, sender: null, fingerprint: null, labels: null, link: null },
  ...{ details: null, links: null, resolves: null, resolvedBy: null, repeatOf: null },
  severity: 'WARNING',
} as const;

/** Most alerts that are read from a server without search. */
const mostListed = 500;

/** A page of the alerts that match, newest first; from a server without search the latest, filtered here. */
export const readAlerts = async (
  filter: AlertFilter,
  { before, limit, signal }: { before?: number; limit: number; signal?: AbortSignal },
): Promise<AlertPage> => {
  const stop = signal && { signal };
  if (isMounted(searchAlerts)) return send(searchAlerts, { query: { ...filter, before, limit }, ...stop });
  const { data } = await send(listAlerts, { query: { count: mostListed }, ...stop });
  const entries = data.map(
    (each, seq): AlertEntry => ({
      ...{ ...unknown, ...each, seq, time: each.timestamp },
      severity: severities.find((severity) => severity === each.level) ?? 'WARNING',
    }),
  );
  return { data: entries.filter((each) => matches(each, filter)).toReversed(), next: null };
};

/** True for alerts that a search with this filter would find. */
export const matches = (alert: AlertEntry, filter: AlertFilter): boolean => {
  const { q, since, until, ...exact } = filter;
  const time = toTimeOf(alert).getTime();
  return (
    Object.entries(exact).every(
      ([name, value]) => !value || `${alert[name as keyof AlertEntry] ?? ''}`.toLowerCase() === value.toLowerCase(),
    ) &&
    (!q || alert.message.toLowerCase().includes(q.toLowerCase())) &&
    (!since || time >= Date.parse(since)) &&
    (!until || time < Date.parse(until))
  );
};

/** Characters of a message in a list; the whole of it is in the alert. */
const mostShown = 400;

/** The message for a list, which is never without anything to see. */
export const toLine = ({ message }: AlertEntry): string =>
  /[^\s\p{C}]/u.test(message) ? message.slice(0, mostShown) : text.alerts.noMessage;

export const toTimeOf = ({ time, timestamp }: AlertEntry): Date => new Date(fromServer(time ?? timestamp));

export const getAlert = defineCall<AlertDetails>({
  ...{ profile: 'alerts', method: 'GET', path: '/api/alerts/{id}' },
  shape: entry,
});

export const countAlerts = defineCall<AlertHistogram>({
  ...{ profile: 'alerts', method: 'GET', path: '/api/alerts/histogram' },
  shape: {
    ...{ since: 'string', until: 'string', bucketSeconds: 'number' },
    buckets: [{ time: 'string', count: 'number', levels: 'object' }],
  },
});
