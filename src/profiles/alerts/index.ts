import { defineFeature } from '../feature.ts';
import { createPolledTopic } from '../topic.ts';
import { readTime } from './alert.ts';
import { createAlertsTopic } from './alerts-topic.ts';
import { createAlertCounts } from './counts.ts';
import { Repeats } from './intake/repeats.ts';
import { createIntakeRoutes } from './intake/routes.ts';
import { findDestinationProblems } from './outbox/config/target.ts';
import { addDeliveryMeters } from './outbox/meters.ts';
import { openOutbox } from './outbox/outbox.ts';
import { createOutboxRoutes, listDeliveries } from './outbox/routes.ts';
import { testDestination } from './outbox/test-destination.ts';
import { createReadingRoutes } from './reading/routes.ts';
import { createAlertRoutes } from './routes.ts';
import { alertSettings } from './settings.ts';

/** Milliseconds between two looks at the destinations while somebody listens. */
const deliveriesInterval = 1000;

/** Stores alerts durably and lists the last ones. */
export const alerts = defineFeature({
  name: 'alerts',
  profiles: [{ name: 'alerts', alias: 'X', mounts: ['/'], summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  findProblems: findDestinationProblems,
  tools: [testDestination],
  create: async ({ openLog, listUnavailable, clock, log, meters, settings }) => {
    const journal = await openLog('alert log', {
      name: 'alerts',
      segmentBytes: settings.alertsSegmentBytes,
      retainSegments: settings.alertsRetainSegments,
      retainBytes: settings.alertsRetainBytes,
      retainDays: settings.alertsRetainDays,
      queueCount: settings.alertsQueueCount,
      queueBytes: settings.alertsQueueBytes,
      minFreeBytes: settings.alertsMinFreeBytes,
      sync: settings.alertsSync,
      awaitsHold: true,
      indexing: {
        timeOf: readTime,
        keyOf: ({ level }) => (typeof level === 'string' ? level : ''),
        keys: ['CRITICAL', 'ERROR', 'WARNING', 'INFO'],
      },
    });
    const outbox = await openOutbox(settings, { alerts: journal, openLog, clock, log }).catch(async (error) => {
      await journal.close();
      throw error;
    });
    addDeliveryMeters(meters, outbox, clock);
    const access = settings.alertsAuth === 'bearer' ? 'token' : 'open';
    const repeats = new Repeats(journal, clock, (err) => {
      log.warn({ err }, 'alert log: its end cannot be read, so alerts that come again may be stored again');
    });
    const counts = createAlertCounts(meters);
    const shared = { journal, repeats, counts, clock, access } as const;
    return {
      profiles: {
        alerts: [
          ...createAlertRoutes({ ...shared, listUnavailable }),
          ...createIntakeRoutes({ ...shared, secrets: settings.intakeSecrets ?? {} }),
          ...createReadingRoutes({ journal, clock, access, deliveriesOf: outbox.listDeliveries }),
          ...createOutboxRoutes(outbox, journal, clock),
        ],
      },
      topics: {
        alerts: createAlertsTopic(journal, access),
        deliveries: createPolledTopic('admin', deliveriesInterval, async () => listDeliveries(outbox, clock()), {
          onlyChanges: true,
        }),
      },
      close: async () => {
        await outbox.close();
        await journal.close();
      },
      reopen: async () => {
        await Promise.all([journal.reopen(), outbox.reopen()]);
      },
      reload: (changed) => {
        outbox.reload(changed);
        return [];
      },
    };
  },
});
