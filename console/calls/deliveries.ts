import type { Static } from 'typebox';
import type { DeliveryList, DestinationState, RetryResult } from '../../src/profiles/alerts/outbox/schema.ts';
import { defineCall } from '../api.ts';

export type Destination = DestinationState;

export const listDeliveries = defineCall<Pick<Static<typeof DeliveryList>, 'data'>>({
  ...{ profile: 'alerts', method: 'GET', path: '/api/deliveries' },
  shape: {
    data: [
      {
        ...{ destination: 'string', type: 'string', state: 'string', lagAlerts: 'number', lagSeconds: 'number' },
        ...{
          lastSuccess: 'string?',
          lastError: 'object?',
          nextAttempt: 'string?',
          parked: 'number',
          dropped: 'number',
        },
        parkedAlerts: [{ id: 'string', time: 'string', reason: 'string' }],
      },
    ],
  },
});

export const retryDelivery = defineCall<Static<typeof RetryResult>>({
  ...{ profile: 'alerts', method: 'POST', path: '/api/deliveries/{destination}/{id}/retry' },
  shape: { delivered: 'boolean', reason: 'string?' },
});
