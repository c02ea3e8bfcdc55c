import { defineFeature } from '../feature.ts';
import { createPolledTopic } from '../topic.ts';
import { addDeliveryMeters, findDeliveryConcerns } from './concerns.ts';
import { openOutbox } from './outbox.ts';
import { createDeliveryList, createDeliveryRoutes } from './routes.ts';
import { DeliveryList } from './schema.ts';
import { notificationSettings } from './settings.ts';
import { findDestinationProblems, listSecretFiles } from './target.ts';
import { testDestination } from './test-destination.ts';

/** Milliseconds between two looks at the destinations while somebody listens. */
const deliveriesInterval = 1000;

/** Delivers stored alerts to destinations. */
export const notifications = defineFeature({
  name: 'notifications',
  profiles: [
    // Before it had a name, it was a part of alerts.
    { name: 'notifications', aliases: ['alerts', 'X'], mounts: ['/'], summary: 'delivery of alerts to destinations' },
  ],
  settings: notificationSettings,
  findProblems: findDestinationProblems,
  listSecretFiles,
  tools: [testDestination],
  create: async ({ offers: { alerts }, openLog, openSnapshot, clock, log, meters, settings }) => {
    const outbox = alerts && (await openOutbox(settings, alerts, { openLog, openSnapshot, clock, log }));
    const list = () => outbox?.list() ?? [];
    addDeliveryMeters(meters, list, clock);
    const listDeliveries = createDeliveryList(list, alerts?.own, clock);
    return {
      profiles: { notifications: createDeliveryRoutes(list, alerts?.journal, listDeliveries) },
      topics: {
        deliveries: createPolledTopic('admin', DeliveryList, deliveriesInterval, listDeliveries, {
          onlyChanges: true,
        }),
      },
      notices:
        alerts || settings.destinations.length === 0
          ? []
          : ['Warning: destinations get nothing, because the profile alerts is not mounted'],
      findConcerns: () => findDeliveryConcerns(list(), clock()),
      reload: (changed) => {
        outbox?.reload(changed);
        return [];
      },
      reopen: async () => outbox?.reopen(),
      close: async () => outbox?.close(),
    };
  },
});
