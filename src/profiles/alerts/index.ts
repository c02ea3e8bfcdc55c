import type { StoredRecord } from '../../storage/journal/read/forward.ts';
import { defineFeature } from '../feature.ts';
import { createPolledTopic } from '../topic.ts';
import { createAlertsTopic } from './alerts-topic.ts';
import { createAlertCounts } from './counts.ts';
import { createIntakeRoutes } from './intake/routes.ts';
import { openAlertLog } from './open-log.ts';
import { findDestinationProblems } from './outbox/config/target.ts';
import { addDeliveryMeters } from './outbox/meters.ts';
import { openOutbox } from './outbox/outbox.ts';
import { createOutboxRoutes, listDeliveries } from './outbox/routes.ts';
import { testDestination } from './outbox/test-destination.ts';
import { createReadingRoutes } from './reading/routes.ts';
import { createAlertRoutes } from './routes.ts';
import { alertSettings } from './settings.ts';
import { alertTransfer } from './transfer.ts';

/** Milliseconds between two looks at the destinations while somebody listens. */
const deliveriesInterval = 1000;

/** Stores alerts durably and lists the last ones. */
export const alerts = defineFeature({
  name: 'alerts',
  profiles: [{ name: 'alerts', alias: 'X', mounts: ['/'], summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  findProblems: findDestinationProblems,
  tools: [testDestination],
  transfer: alertTransfer,
  create: async (parts) => {
    const { openLog, listUnavailable, clock, log, meters, settings } = parts;
    const alertLog = await openAlertLog(parts);
    const { journal, own, isOwn, intake, readiness } = alertLog;
    const outbox = await openOutbox(settings, { alerts: own, openLog, clock, log }).catch(async (error) => {
      await alertLog.close();
      throw error;
    });
    addDeliveryMeters(meters, outbox, clock);
    const access = settings.alertsAuth === 'bearer' ? 'token' : 'open';
    const counts = createAlertCounts(meters);
    const shared = { journal, intake, counts, clock, access } as const;
    // Another instance delivers the alerts that it has received.
    const deliveriesOf = (record: StoredRecord) => (isOwn(record) ? outbox.listDeliveries(record) : []);
    return {
      profiles: {
        alerts: [
          ...createAlertRoutes({ ...shared, readiness, listUnavailable }),
          ...createIntakeRoutes({ ...shared, secrets: settings.intakeSecrets ?? {} }),
          ...createReadingRoutes({ journal, clock, access, deliveriesOf }),
          ...createOutboxRoutes(outbox, own, clock),
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
        await alertLog.close();
      },
      reopen: async () => {
        await Promise.all([alertLog.reopen(), outbox.reopen()]);
      },
      reload: (changed) => {
        outbox.reload(changed);
        return [];
      },
    };
  },
});
