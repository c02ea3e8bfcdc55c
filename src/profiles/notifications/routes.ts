import { HttpError } from '../../http/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { defineRoute, type Route } from '../route.ts';
import { toSeverity } from '../severity.ts';
import type { Destination } from './destination.ts';
import { bySeq } from './progress.ts';
import {
  DeliveryList,
  DestinationParams,
  type DestinationState,
  RetryAllResult,
  RetryParams,
  RetryResult,
} from './schema.ts';
import { readBlock } from './waiting.ts';

type Alerts = Pick<RecordLog, 'find'>;

/** How many parked and waiting alerts are listed. */
const mostListed = 100;

type ListDeliveries = ReturnType<typeof createDeliveryList>;

type ListDestinations = () => readonly Destination[];

/** The routes of deliveries. */
export const createDeliveryRoutes = (
  list: ListDestinations,
  alerts: Alerts | undefined,
  listDeliveries: ListDeliveries,
): Route[] => [
  createDeliveriesRoute(listDeliveries),
  createDestinationRetryRoute(list),
  createDeliveryRetryRoute(list, alerts),
];

/** How far each destination is. */
export const createDeliveryList = (
  list: ListDestinations,
  alerts: Pick<RecordLog, 'readAfter'> | undefined,
  clock: () => Date,
) => {
  const look = alerts && createGlances(alerts);
  return async () => {
    const listed = list().map((destination) => ({ destination, ...listAlerts(destination) }));
    const glances = await look?.(listed.flatMap(({ parked, waiting }) => [...parked, ...waiting]));
    const addGlance = <T extends { seq: number; id: string }>({ seq: _, ...alert }: T) => ({
      ...alert,
      ...(glances?.get(alert.id) ?? unknown),
    });
    const data = listed.map(
      ({ destination, parked, waiting }): DestinationState => ({
        ...toState(destination, clock()),
        parkedAlerts: parked.map(addGlance),
        waitingAlerts: waiting.map(addGlance),
      }),
    );
    return { count: data.length, data };
  };
};

const createDeliveriesRoute = (listDeliveries: ListDeliveries): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/deliveries',
    access: 'admin',
    summary: 'Say how far each destination is',
    schema: { operationId: 'listDeliveries', response: { 200: DeliveryList } },
    handler: listDeliveries,
  });

const createDestinationRetryRoute = (list: ListDestinations): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/retry',
    access: 'admin',
    summary: 'Send everything that is parked or waits again, now',
    schema: { operationId: 'retryDestination', params: DestinationParams, response: { 200: RetryAllResult } },
    handler: async ({ params: { destination: name } }) => {
      const destination = findDestination(list, name);
      const parked = destination.unparkAll();
      destination.retryWaiting({ ignoresRetryAfter: true });
      return { destination: name, parked, waiting: destination.lag };
    },
  });

const createDeliveryRetryRoute = (list: ListDestinations, alerts: Alerts | undefined): Route => {
  /** Alerts that are being sent, as `DESTINATION/ID`. */
  const running = new Set<string>();
  return defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/:id/retry',
    access: 'admin',
    summary: 'Send an alert that is parked or waits once more, now',
    schema: { operationId: 'retryDelivery', params: RetryParams, response: { 200: RetryResult } },
    handler: async ({ params: { destination: name, id } }) => {
      const destination = findDestination(list, name);
      const isSent = new HttpError('too-many', 'This alert is being sent already');
      const key = `${name}/${id}`;
      if (running.has(key)) throw isSent;
      running.add(key);
      try {
        const outcome = await destination.retry(await findOpen(destination, alerts, id));
        if (!outcome) throw isSent;
        return outcome.kind === 'delivered'
          ? { delivered: true, reason: null }
          : { delivered: false, reason: outcome.reason };
      } finally {
        running.delete(key);
      }
    },
  });
};

const findDestination = (list: ListDestinations, name: string): Destination => {
  const destination = list().find((one) => one.name === name);
  if (destination) return destination;
  throw new HttpError('not-found', `There is no destination ${JSON.stringify(name)}`);
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The record of an alert that is parked or waits. */
const findOpen = async (destination: Destination, alerts: Alerts | undefined, id: string) => {
  const record = uuid.test(id) ? await alerts?.find(id) : undefined;
  if (record && destination.isOpen(record)) return record;
  const isParked = [...destination.progress.parked.values()].some((parked) => parked.id === id);
  if (isParked) throw new HttpError('not-found', 'The alert is no longer in the log');
  throw new HttpError('not-found', `No alert with this id is parked or waits at ${destination.name}`);
};

/** The alerts that are shown of a destination. */
const listAlerts = (destination: Destination) => {
  const parked = [...destination.progress.parked].slice(-mostListed);
  const waiting = [...destination.waiting.list()].sort((one, other) => one.seq - other.seq).slice(0, mostListed);
  return {
    parked: parked.map(([seq, alert]) => ({ seq, ...alert })),
    waiting: waiting.map((alert) => ({
      ...{ seq: alert.seq, id: alert.id, attempts: alert.attempts },
      time: new Date(alert.receivedAt).toISOString(),
      nextAttempt: toTime(destination.nextAttemptOf(alert)),
    })),
  };
};

const toState = (destination: Destination, now: Date) => {
  const { name, target, progress, receiver, repeatMinutes, nextAt, waitingSince = now.getTime() } = destination;
  const { levels = null, sources = null, formats = null, notify = 'alerts' } = target.settings;
  const { lastSuccess, lastError, failing } = receiver;
  return {
    destination: name,
    type: target.type.name,
    address: target.address,
    notify,
    repeatMinutes,
    filter: { levels, sources, formats },
    state: destination.state,
    failingSince: failing?.since ?? null,
    lagAlerts: destination.lag,
    lagSeconds: Math.max(0, now.getTime() - waitingSince) / 1000,
    lastSuccess: lastSuccess?.toISOString() ?? null,
    lastError: lastError ? { time: lastError.time.toISOString(), reason: lastError.reason } : toLastError(failing),
    nextAttempt: toTime(nextAt),
    parked: progress.parkedCount,
    dropped: progress.dropped,
  };
};

/** After a restart, why the destination is failing is still known. */
const toLastError = (failing: { since: string; reason: string } | undefined) =>
  failing ? { time: failing.since, reason: failing.reason } : null;

const toTime = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** The most characters of a message that a list shows. */
const mostCharacters = 500;

/** What lists show of an alert. */
type Glance = Pick<DestinationState['parkedAlerts'][number], 'severity' | 'source' | 'message'>;

const unknown: Glance = { severity: null, source: null, message: null };

/**
 * Finds what the log says of alerts that are listed again and again: each is read once, and remembered while it is listed.
 * While the log cannot be read, nothing new is known.
 */
const createGlances = (alerts: Pick<RecordLog, 'readAfter'>) => {
  let last = new Map<string, Glance>();
  return async (listed: readonly { seq: number; id: string }[]): Promise<ReadonlyMap<string, Glance>> => {
    const glances = new Map(listed.flatMap(({ id }) => (last.has(id) ? [[id, last.get(id) ?? unknown]] : [])));
    last = glances;
    const missing = new Map(listed.flatMap(({ seq, id }) => (glances.has(id) ? [] : [[seq, id]])));
    await readGlances(alerts, missing, glances).catch(() => undefined);
    return glances;
  };
};

const readGlances = async (
  alerts: Pick<RecordLog, 'readAfter'>,
  missing: ReadonlyMap<number, string>,
  glances: Map<string, Glance>,
): Promise<void> => {
  let last = 0;
  for (const seq of [...missing.keys()].sort(bySeq)) {
    if (seq <= last) continue;
    const records = await readBlock(alerts, seq);
    // Another log may have another alert with a seq.
    for (const record of records) if (missing.get(record.seq) === record.id) glances.set(record.id, toGlance(record));
    last = records.at(-1)?.seq ?? seq;
  }
  for (const id of missing.values()) if (!glances.has(id)) glances.set(id, unknown);
};

const toGlance = ({ level, source, message }: StoredRecord): Glance => ({
  severity: toSeverity(String(level)),
  source: String(source),
  message: String(message).slice(0, mostCharacters),
});
