import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import type { NameIncidents } from '../alert-source.ts';
import { defineFeature } from '../feature.ts';
import { createPolledTopic } from '../topic.ts';
import type { AlertRecord } from './alert.ts';
import { createAlertsTopic } from './alerts-topic.ts';
import { createAlertCounts } from './counts.ts';
import { findAlertConcerns } from './firing/follow-log.ts';
import { createIntakeRoutes } from './intake/routes.ts';
import { openAlertLog } from './open-log.ts';
import { addDeliveryMeters, findDeliveryConcerns } from './outbox/concerns.ts';
import { openOutbox } from './outbox/outbox.ts';
import { createDeliveryList, createOutboxRoutes } from './outbox/routes.ts';
import { DeliveryList } from './outbox/schema.ts';
import { findDestinationProblems, listSecretFiles } from './outbox/target.ts';
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
  listSecretFiles,
  tools: [testDestination],
  transfer: alertTransfer,
  create: async (parts) => {
    const { openLog, identifySender, listUnavailable, clock, log, meters, settings } = parts;
    // The outbox, which knows it, reads the log.
    let repeatAfterMs = (): number | undefined => undefined;
    const alertLog = await openAlertLog({ ...parts, repeatAfterMs: () => repeatAfterMs() });
    const { journal, own, isOwn, intake, firing, readiness } = alertLog;
    const counts = createAlertCounts(meters);
    const store = async (record: AlertRecord) => {
      const stored = await intake.append(record);
      counts.addReceived('native', record.level);
      return stored;
    };
    const registry = parts.openSnapshot('outbox.destinations');
    const outbox = await openOutbox(settings, { alerts: own, openLog, registry, store, clock, log }).catch(
      async (error) => {
        await alertLog.close();
        throw error;
      },
    );
    repeatAfterMs = () => outbox.repeatAfterMs();
    addDeliveryMeters(meters, outbox, clock);
    let nameIncidents: NameIncidents | undefined;
    const shared = { journal, intake, counts, clock, identifySender } as const;
    // Another instance delivers the alerts that it has received.
    const deliveriesOf = (record: StoredRecord) => (isOwn(record) ? outbox.listDeliveries(record) : []);
    const listDeliveries = createDeliveryList(outbox, own, clock);
    return {
      offers: {
        alerts: {
          journal,
          setIncidentNames: (name) => {
            nameIncidents = name;
          },
        },
      },
      profiles: {
        alerts: [
          ...createAlertRoutes({ ...shared, readiness, listUnavailable }),
          ...createIntakeRoutes({ ...shared, secrets: settings.intakeSecrets ?? {} }),
          ...createReadingRoutes({
            ...{ journal, firing, clock, deliveriesOf },
            nameIncidents: async (records) => nameIncidents?.(records) ?? [],
          }),
          ...createOutboxRoutes(outbox, journal, listDeliveries),
        ],
      },
      topics: {
        alerts: createAlertsTopic(journal, firing),
        deliveries: createPolledTopic('admin', DeliveryList, deliveriesInterval, listDeliveries, {
          onlyChanges: true,
        }),
      },
      notices: alertLog.notices,
      start: alertLog.beginRetention,
      findConcerns: () => [...findAlertConcerns(firing), ...findDeliveryConcerns(outbox.list(), clock())],
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
