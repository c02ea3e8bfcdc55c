import { hostname } from 'node:os';
import { type AlertDeliverer, type AlertSource, type NameIncidents, ownSender } from '../alert-source.ts';
import { defineFeature } from '../feature.ts';
import { createAlert } from './alert.ts';
import { findAlertConcerns } from './firing.ts';
import { readInstanceId } from './instance-id.ts';
import { createAlertCounts, createFormatRoutes } from './intake/routes.ts';
import { openAlertLog } from './open-log.ts';
import { createAlertsTopic, createReadingRoutes } from './reading.ts';
import { createAlertRoutes } from './routes.ts';
import { alertSettings } from './settings.ts';
import { alertTransfer } from './transfer.ts';

/** Stores alerts durably and lists the last ones. */
export const alerts = defineFeature({
  name: 'alerts',
  profiles: [{ name: 'alerts', aliases: ['X'], mounts: ['/'], summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  transfer: alertTransfer,
  create: async (parts) => {
    const { openLog, identifySender, listUnavailable, clock, meters, settings } = parts;
    let deliverer: AlertDeliverer | undefined;
    let nameIncidents: NameIncidents | undefined;
    const alertLog = await openAlertLog({ ...parts, repeatAfterMs: () => deliverer?.repeatAfterMs() });
    const { journal, own, isOwn, intake, firing, readiness } = alertLog;
    const counts = createAlertCounts(meters);
    const source: AlertSource = {
      journal,
      own,
      readInstance: () => readInstanceId(openLog),
      countReceived: counts.countReceived,
      raise: async ({ level, message, ...details }) => {
        const fields = { source: ownSender, level, message, hostname: hostname() };
        const record = createAlert(fields, { now: clock(), sender: ownSender });
        const stored = await intake.append({ ...record, ...details });
        counts.addReceived('native', level);
        return stored;
      },
      setDeliverer: (one) => {
        deliverer = one;
      },
      setIncidentNames: (name) => {
        nameIncidents = name;
      },
    };
    const shared = { journal, intake, counts, clock, identifySender, secrets: settings.intakeSecrets ?? {} } as const;
    return {
      offers: { alerts: source },
      profiles: {
        alerts: [
          ...createAlertRoutes({ ...shared, readiness, listUnavailable }),
          ...createFormatRoutes(shared),
          ...createReadingRoutes({
            ...{ journal, firing, clock },
            // Another instance delivers the alerts that it has received.
            deliveriesOf: (record) => (isOwn(record) ? (deliverer?.deliveriesOf(record) ?? []) : []),
            nameIncidents: async (records) => nameIncidents?.(records) ?? [],
          }),
        ],
      },
      topics: { alerts: createAlertsTopic(journal, firing) },
      notices: alertLog.notices,
      start: alertLog.beginRetention,
      // Where there are incidents, they say what needs attention.
      findConcerns: () => (nameIncidents ? [] : findAlertConcerns(firing)),
      close: alertLog.close,
      reopen: async () => {
        await alertLog.reopen();
      },
    };
  },
});
