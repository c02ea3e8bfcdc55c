import { HttpError } from '../../../http/response/errors.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { defineRoute, type Route } from '../../route.ts';
import type { Destination } from './delivery/destination.ts';
import type { Outbox } from './outbox.ts';
import { DeliveryList, type DestinationState, RetryParams, RetryResult } from './schema.ts';

type Alerts = Pick<RecordLog, 'readAfter'>;

/** How many parked alerts are listed. */
const mostListed = 100;

/** The routes of the outbox. */
export const createOutboxRoutes = (outbox: Outbox, alerts: Alerts, clock: () => Date): Route[] => [
  readDeliveries(outbox, clock),
  retryDelivery(outbox, alerts),
];

/** How far each destination is. */
export const listDeliveries = (outbox: Outbox, now: Date) => {
  const data = outbox.list().map((destination) => toState(destination, now));
  return { count: data.length, data };
};

const readDeliveries = (outbox: Outbox, clock: () => Date): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/deliveries',
    access: 'admin',
    summary: 'Say how far each destination is',
    schema: { operationId: 'listDeliveries', response: { 200: DeliveryList } },
    handler: async () => listDeliveries(outbox, clock()),
  });

const retryDelivery = (outbox: Outbox, alerts: Alerts): Route => {
  /** Alerts that are being sent, as `DESTINATION/ID`. */
  const running = new Set<string>();
  return defineRoute({
    method: 'POST',
    path: '/api/deliveries/:destination/:id/retry',
    access: 'admin',
    summary: 'Send a parked alert once more, now',
    schema: { operationId: 'retryDelivery', params: RetryParams, response: { 200: RetryResult } },
    handler: async ({ params: { destination: name, id } }) => {
      const destination = outbox.list().find((one) => one.name === name);
      if (!destination) throw new HttpError('not-found', `There is no destination ${JSON.stringify(name)}`);
      const seq = destination.findParked(id);
      if (seq === undefined) throw new HttpError('not-found', `No alert with this id is parked at ${name}`);
      const key = `${name}/${id}`;
      if (running.has(key)) throw new HttpError('too-many', 'This alert is being sent already');
      running.add(key);
      try {
        const record = await findRecord(alerts, seq, id);
        if (!record) throw new HttpError('not-found', 'The alert is no longer in the log');
        const outcome = await destination.retry(record);
        const isDelivered = outcome.kind === 'delivered';
        return { delivered: isDelivered, reason: isDelivered ? null : outcome.reason };
      } finally {
        running.delete(key);
      }
    },
  });
};

/** The record with this seq and id: in another log, another record may have the seq. */
const findRecord = async (alerts: Alerts, seq: number, id: string) => {
  for await (const [first] of alerts.readAfter(seq - 1))
    return first?.seq === seq && first.id === id ? first : undefined;
  return undefined;
};

const toState = (destination: Destination, now: Date): DestinationState => {
  const { name, target, progress, health, nextAt, waitingSince = now.getTime() } = destination;
  const { lastSuccess, lastError } = health;
  return {
    destination: name,
    type: target.type.name,
    state: destination.state,
    lagAlerts: destination.lag,
    lagSeconds: Math.max(0, now.getTime() - waitingSince) / 1000,
    lastSuccess: lastSuccess?.toISOString() ?? null,
    lastError: lastError ? { time: lastError.time.toISOString(), reason: lastError.reason } : null,
    nextAttempt: nextAt === undefined ? null : new Date(nextAt).toISOString(),
    parked: progress.parked.size + progress.forgotten,
    parkedAlerts: [...progress.parked.values()].slice(-mostListed),
    dropped: progress.dropped,
  };
};
