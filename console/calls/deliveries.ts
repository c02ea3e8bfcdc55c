import type { Static } from 'typebox';
import type {
  DestinationState,
  DeliveryList as ListShape,
  RetryAllResult,
  RetryResult,
} from '../../src/profiles/alerts/outbox/schema.ts';
import { defineCall } from '../api.ts';

export type Destination = Static<typeof DestinationState>;
export type DeliveryList = Static<typeof ListShape>;

/** An alert that waits or was given up; its text is null once it is no longer in the log. */
export type HeldAlert = Pick<Destination['parkedAlerts'][number], 'id' | 'time' | 'severity' | 'source' | 'message'> &
  Partial<Destination['parkedAlerts'][number] & Destination['waitingAlerts'][number]>;

const profile = 'alerts';
const held = { id: 'string', time: 'string', severity: 'string?', source: 'string?', message: 'string?' } as const;

/** As the topic `deliveries` reports it too. */
export const listDeliveries = defineCall<DeliveryList>({
  ...{ profile, method: 'GET', path: '/api/deliveries' },
  shape: {
    data: [
      {
        ...{ destination: 'string', type: 'string', address: 'string', filter: 'object', repeatMinutes: 'number' },
        ...{ state: 'string', failingSince: 'string?', lagAlerts: 'number', lagSeconds: 'number' },
        ...{ lastSuccess: 'string?', lastError: 'object?', nextAttempt: 'string?' },
        ...{ parked: 'number', dropped: 'number', waitingAlerts: [held], parkedAlerts: [held] },
      },
    ],
  },
});

export const retryDelivery = defineCall<Static<typeof RetryResult>>({
  ...{ profile, method: 'POST', path: '/api/deliveries/{destination}/{id}/retry' },
  shape: { delivered: 'boolean', reason: 'string?' },
});

/** Tries everything again that waits or was given up. */
export const retryAll = defineCall<Static<typeof RetryAllResult>>({
  ...{ profile, method: 'POST', path: '/api/deliveries/{destination}/retry' },
  shape: { parked: 'number', waiting: 'number' },
});
