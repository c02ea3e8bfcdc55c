import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError, requireKnown } from '../../http/errors.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import type { Reach } from '../../kit/reach.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { uuidForm } from '../../kit/shape.ts';
import { toTimeText } from '../../kit/time.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ListDeliveries, ListDestinations } from './delivery-list.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { sendTest } from './message/test-message.ts';
import type { AnyDestination } from './open-destination.ts';
import type { IncidentDestination } from './plan/incident-destination.ts';
import {
  DeliveryList,
  DestinationParams,
  RetryAllResult,
  RetryParams,
  RetryResult,
  SentPage,
  SentQuery,
  TestResult,
} from './schema.ts';

type Alerts = Pick<RecordLog, 'find'>;

/** Finds a destination. Throws an HttpError for an unknown destination, and on a quiet server. */
type FindDestination = (name: string) => AnyDestination;

interface RouteParts {
  list: ListDestinations;
  alerts: Alerts;
  incidents: IncidentSource;
  listDeliveries: ListDeliveries;
  clock: () => Date;
  reach: Reach;
  isQuiet: boolean;
}

export const createDeliveryRoutes = ({
  list,
  alerts,
  incidents,
  listDeliveries,
  clock,
  reach,
  isQuiet,
}: RouteParts): Route[] => {
  const find: FindDestination = (wanted) => {
    if (isQuiet)
      throw new HttpError(
        'wrong-state',
        'The setting quiet is on, so nothing is sent: restart the server without quiet',
      );
    const found = list().find(({ name }) => name === wanted);
    return requireKnown(found, 'Destination', wanted, '/api/destinations');
  };
  return [
    createDeliveriesRoute(listDeliveries),
    createDestinationRetryRoute(find),
    createDeliveryRetryRoute(find, alerts),
    createTestRoute(find, clock, reach),
    createSentRoute(incidents),
  ];
};

const createDeliveriesRoute = (listDeliveries: ListDeliveries): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/deliveries',
    ...needs('notifications:read'),
    summary: 'List destinations with their delivery status',
    schema: { operationId: 'listDeliveries', response: { 200: DeliveryList } },
    handler: listDeliveries,
  });

const createDestinationRetryRoute = (find: FindDestination): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/retry',
    ...needs('settings:write'),
    summary: 'Send all waiting and given-up alerts and notifications of a destination now',
    schema: { operationId: 'retryDestination', params: DestinationParams, response: { 200: RetryAllResult } },
    handler: async ({ params: { destination: name } }) => {
      const destination = find(name);
      const parked = destination instanceof Forwarder ? destination.unparkAll() : 0;
      destination.queue.retryAll({ ignoresRetryAfter: true });
      return { destination: name, parked, waiting: destination.lag };
    },
  });

const createDeliveryRetryRoute = (find: FindDestination, alerts: Alerts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/:id/retry',
    ...needs('settings:write'),
    summary: 'Send a waiting or given-up alert, or the notification of an incident, now',
    schema: { operationId: 'retryDelivery', params: RetryParams, response: { 200: RetryResult } },
    handler: async ({ params: { destination: name, id } }) => {
      const destination = find(name);
      const outcome =
        destination instanceof Forwarder
          ? await destination.retry(await findOpen(destination, alerts, id))
          : await destination.retry(findWaiting(destination, id));
      if (!outcome) throw new HttpError('too-many', 'This alert is already being sent');
      return outcome.kind === 'delivered'
        ? { delivered: true, reason: null }
        : { delivered: false, reason: outcome.reason };
    },
  });

const createTestRoute = (find: FindDestination, clock: () => Date, reach: Reach): Route => {
  const queue = createQueue({ running: 4, waiting: 16, refusal: 'Too many tests are being sent' });
  return defineRoute({
    method: 'POST',
    path: '/api/destinations/:destination/test',
    ...needs('settings:write'),
    summary: 'Send a test to a destination, and return the response of its receiver',
    schema: { operationId: 'testDestination', params: DestinationParams, response: { 200: TestResult } },
    handler: async ({ params: { destination: name } }, reply) => {
      const { definition } = find(name);
      const { isDelivered, response } = await queue.run(
        () => sendTest(definition, clock, reach),
        createClientSignal(reply),
      );
      return { delivered: isDelivered, response };
    },
  });
};

/** Resolves to the record of a given-up or waiting alert. Throws an HttpError if there is none. */
const findOpen = async (destination: Forwarder, alerts: Alerts, id: string) => {
  const record = uuidForm.test(id) ? await alerts.find(id) : undefined;
  if (record && destination.isOpen(record)) return record;
  const isGivenUp = [...destination.progress.parked.values()].some((parked) => parked.id === id);
  if (isGivenUp) throw new HttpError('not-found', 'The alert is no longer in the log');
  throw new HttpError('not-found', `${destination.name} has no waiting or given-up alert with this id`);
};

/** Returns the id of an incident with a due notification. Throws an HttpError if there is none. */
const findWaiting = (destination: IncidentDestination, id: string): string => {
  if (destination.isWaiting(id)) return id;
  throw new HttpError('not-found', `${destination.name} has no notification due for an incident with this id`);
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
