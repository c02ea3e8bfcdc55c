import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError, requireKnown } from '../../http/errors.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { defineRoute, type Route, toTimeOrNull, toTimeText, uuidForm } from '../../kit/route.ts';
import type { Targets } from '../../kit/targets.ts';
import { minuteMs } from '../../lib/units.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { createGlances, unknownGlance } from './forwarder/glances.ts';
import { sendTest } from './message/test-message.ts';
import type { AnyDestination } from './open-destination.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import type { Notifier } from './plan/notifier.ts';
import type { IncidentRules } from './plan/plan.ts';
import type { IncidentKeys } from './plan/rules.ts';
import {
  DeliveryList,
  DestinationParams,
  type DestinationState,
  RetryAllResult,
  RetryParams,
  RetryResult,
  SentPage,
  SentQuery,
  TestResult,
} from './schema.ts';

type Alerts = Pick<RecordLog, 'find'>;

/** How many parked and waiting alerts are listed. */
const mostListed = 100;

type ListDeliveries = ReturnType<typeof createDeliveryList>;

type ListDestinations = () => readonly AnyDestination[];

/** @throws HttpError where there is no such destination, or nothing may be sent */
type FindDestination = (name: string) => AnyDestination;

interface RouteParts {
  list: ListDestinations;
  alerts: Alerts | undefined;
  incidents: IncidentSource | undefined;
  listDeliveries: ListDeliveries;
  clock: () => Date;
  targets: Targets;
  isQuiet: boolean;
}

/** The routes of deliveries. */
export const createDeliveryRoutes = ({
  list,
  alerts,
  incidents,
  listDeliveries,
  clock,
  targets,
  isQuiet,
}: RouteParts): Route[] => {
  const find: FindDestination = (wanted) => {
    if (isQuiet) throw new HttpError('wrong-state', 'This server is quiet and sends nothing: start it without quiet');
    const found = list().find(({ name }) => name === wanted);
    return requireKnown(found, 'Destination', wanted, '/api/destinations');
  };
  return [
    createDeliveriesRoute(listDeliveries),
    createDestinationRetryRoute(find),
    createDeliveryRetryRoute(find, alerts),
    createTestRoute(find, clock, targets),
    ...(incidents ? [createSentRoute(incidents)] : []),
  ];
};

/** How far each destination is. */
export const createDeliveryList = (
  list: ListDestinations,
  alerts: Pick<RecordLog, 'readAfter'> | undefined,
  notifier: Pick<Notifier, 'listPlanned'> | undefined,
  clock: () => Date,
  isQuiet: boolean,
) => {
  const look = alerts && createGlances(alerts);
  return async () => {
    const all = list();
    const notices = all.some((one) => one instanceof IncidentDestination) ? listNotices(all, notifier) : undefined;
    const listed = all.map((destination) => ({ destination, ...listAlerts(destination) }));
    const glances = await look?.(listed.flatMap(({ parked, waiting }) => [...parked, ...waiting]));
    const addGlance = <T extends { seq: number; id: string }>({ seq: _, ...alert }: T) => ({
      ...alert,
      ...(glances?.get(alert.id) ?? unknownGlance),
    });
    const data = listed.map(
      ({ destination, parked, waiting }): DestinationState => ({
        ...toState(destination, clock()),
        parkedAlerts: parked.map(addGlance),
        waitingAlerts: waiting.map(addGlance),
        waitingNotices: notices?.get(destination.name) ?? [],
      }),
    );
    return { count: data.length, data, quiet: isQuiet };
  };
};

const createDeliveriesRoute = (listDeliveries: ListDeliveries): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/deliveries',
    ...needs('notifications:read'),
    summary: 'Say how far each destination is',
    schema: { operationId: 'listDeliveries', response: { 200: DeliveryList } },
    handler: listDeliveries,
  });

const createDestinationRetryRoute = (find: FindDestination): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/retry',
    ...needs('settings:write'),
    summary: 'Send everything that is parked or waits again, now',
    schema: { operationId: 'retryDestination', params: DestinationParams, response: { 200: RetryAllResult } },
    handler: async ({ params: { destination: name } }) => {
      const destination = find(name);
      const parked = destination instanceof Forwarder ? destination.unparkAll() : 0;
      destination.queue.retryAll({ ignoresRetryAfter: true });
      return { destination: name, parked, waiting: destination.lag };
    },
  });

const createDeliveryRetryRoute = (find: FindDestination, alerts: Alerts | undefined): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/:id/retry',
    ...needs('settings:write'),
    summary: 'Send an alert that is parked or waits, or tell of an incident, now',
    schema: { operationId: 'retryDelivery', params: RetryParams, response: { 200: RetryResult } },
    handler: async ({ params: { destination: name, id } }) => {
      const destination = find(name);
      const outcome =
        destination instanceof Forwarder
          ? await destination.retry(await findOpen(destination, alerts, id))
          : await destination.retry(findWaiting(destination, id));
      if (!outcome) throw new HttpError('too-many', 'This alert is being sent already');
      return outcome.kind === 'delivered'
        ? { delivered: true, reason: null }
        : { delivered: false, reason: outcome.reason };
    },
  });

const createTestRoute = (find: FindDestination, clock: () => Date, targets: Targets): Route => {
  const queue = createQueue({ running: 4, waiting: 16, refusal: 'Too many tests are being sent' });
  return defineRoute({
    method: 'POST',
    path: '/api/destinations/:destination/test',
    ...needs('settings:write'),
    summary: 'Send a test to a destination, and return what its receiver responds',
    schema: { operationId: 'testDestination', params: DestinationParams, response: { 200: TestResult } },
    handler: async ({ params: { destination: name } }, reply) => {
      const { target } = find(name);
      const { isDelivered, response } = await queue.run(
        () => sendTest(target, clock, targets),
        createClientSignal(reply),
      );
      return { delivered: isDelivered, response };
    },
  });
};

/** The record of an alert that is parked or waits. */
const findOpen = async (destination: Forwarder, alerts: Alerts | undefined, id: string) => {
  const record = uuidForm.test(id) ? await alerts?.find(id) : undefined;
  if (record && destination.isOpen(record)) return record;
  const isParked = [...destination.progress.parked.values()].some((parked) => parked.id === id);
  if (isParked) throw new HttpError('not-found', 'The alert is no longer in the log');
  throw new HttpError('not-found', `No alert with this id is parked or waits at ${destination.name}`);
};

/** The id of an incident of which the destination is to be told now. */
const findWaiting = (destination: IncidentDestination, id: string): string => {
  if (destination.isWaiting(id)) return id;
  throw new HttpError('not-found', `${destination.name} is not to be notified of an incident with this id now`);
};

const createSentRoute = (incidents: IncidentSource): Route => {
  const queue = createQueue({ running: 2, waiting: 100, refusal: 'Too many lists of notifications are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/notifications',
    ...needs('notifications:read'),
    summary: 'List notifications of incidents, newest first',
    schema: { operationId: 'listNotifications', querystring: SentQuery, response: { 200: SentPage, 404: ErrorBody } },
    handler: async ({ query: { destination, incident, limit, before } }, reply) => {
      const found = incident === undefined ? undefined : await incidents.require(incident);
      const filter = { destination, incident: found?.id };
      const sent = await queue.run(
        async () => incidents.listSent(filter, limit + 1, before),
        createClientSignal(reply),
      );
      const data = sent.slice(0, limit).map(({ at, change: _, ...one }) => ({ ...one, at: toTimeText(at) }));
      return { count: data.length, data, next: sent.length > limit ? (sent[limit - 1]?.change ?? null) : null };
    },
  });
};

/** How many incidents are looked at for what destinations will be told. */
const mostPlanned = 1000;

type WaitingNotice = DestinationState['waitingNotices'][number];

/** The next notifications of each destination, by its name. */
const listNotices = (all: readonly AnyDestination[], notifier: Pick<Notifier, 'listPlanned'> | undefined) => {
  const byName = new Map<string, WaitingNotice[]>();
  const waiting = all.flatMap((one) => (one instanceof IncidentDestination ? one.listIds(mostListed) : []));
  for (const { incident, notifications } of notifier?.listPlanned(waiting, mostPlanned) ?? []) {
    for (const { destination, next } of notifications) {
      const notices = byName.get(destination) ?? [];
      byName.set(destination, notices);
      const { id, number, title, level } = incident;
      if (next) notices.push({ incident: id, number, title, level, ...next });
    }
  }
  const order = ({ dueAt }: WaitingNotice) => (dueAt === null ? Number.POSITIVE_INFINITY : Date.parse(dueAt));
  for (const [name, notices] of byName) {
    byName.set(
      name,
      notices.sort((one, other) => order(one) - order(other) || one.number - other.number).slice(0, mostListed),
    );
  }
  return byName;
};

/** The alerts that are shown of a destination. */
const listAlerts = (destination: AnyDestination) => {
  if (destination instanceof IncidentDestination) return { parked: [], waiting: [] };
  const parked = [...destination.progress.parked].slice(-mostListed);
  const waiting = [...destination.queue.waiting.list()].sort((one, other) => one.seq - other.seq).slice(0, mostListed);
  return {
    parked: parked.map(([seq, alert]) => ({ seq, ...alert })),
    waiting: waiting.map((alert) => ({
      seq: alert.seq,
      id: alert.message.id,
      attempts: alert.attempts,
      time: toTimeText(alert.receivedAt),
      nextAttempt: toTimeOrNull(destination.queue.nextAttemptOf(alert)),
    })),
  };
};

const toState = (destination: AnyDestination, now: Date) => {
  const { name, target, receiver, queue, waitingSince = now.getTime() } = destination;
  const { levels = null, sources = null, formats = null, notify = 'alerts' } = target.settings;
  const { lastSuccess, lastError, failing } = receiver;
  const isOfAlerts = destination instanceof Forwarder;
  return {
    destination: name,
    type: target.type.name,
    address: target.address,
    notify,
    incidents: isOfAlerts ? null : toShownRules(target),
    repeatMinutes: isOfAlerts ? destination.repeatMinutes : 0,
    filter: { levels, sources, formats },
    state: destination.state,
    failingSince: failing?.since ?? null,
    lagAlerts: isOfAlerts ? destination.lag : 0,
    lagIncidents: isOfAlerts ? 0 : destination.lag,
    lagSeconds: Math.max(0, now.getTime() - waitingSince) / 1000,
    lastSuccess: lastSuccess?.toISOString() ?? null,
    lastError: lastError ? { time: lastError.time.toISOString(), reason: lastError.reason } : toLastError(failing),
    nextAttempt: toTimeOrNull(queue.nextAt),
    parked: isOfAlerts ? destination.progress.parkedCount : 0,
    dropped: isOfAlerts ? destination.progress.dropped : 0,
  };
};

const toShownRules = ({ rules, settings }: { rules: IncidentRules; settings: IncidentKeys }) => ({
  on: [...rules.on],
  after: rules.afterMs / minuteMs,
  repeat: rules.repeatMs === undefined ? null : rules.repeatMs / minuteMs,
  groupSeconds: rules.groupMs / 1000,
  hours: settings.hours ?? null,
  hoursExcept: [...rules.hoursExcept],
});

/** After a restart, why the destination is failing is still known. */
const toLastError = (failing: { since: string; reason: string } | undefined) =>
  failing ? { time: failing.since, reason: failing.reason } : null;
