import type { DeliveryList } from 'signalbox/client';
import { client } from '../api.ts';
import { type Resource, useResource } from '../live/resource.ts';

/** Loads the delivery status of all destinations, updated live. */
export const useDestinations = (): Resource<DeliveryList> =>
  useResource((signal) => client.listDeliveries(undefined, { signal }), {
    topic: 'deliveries',
    replace: (data) => data,
  });
