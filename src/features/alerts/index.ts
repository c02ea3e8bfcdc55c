import { defineFeature } from '../../kit/feature.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { createAlertSource } from './alert-source.ts';
import { ExpiredAlerts } from './firing/expired-alerts.ts';
import { createDatabaseCopies, createFileCopies } from './firing/receipt-copies.ts';
import { ReceiptTimes } from './firing/receipt-times.ts';
import { formatKind } from './intake/custom/kind.ts';
import { testIntake } from './intake/custom/preview.ts';
import { findIntakeProblems } from './intake/custom/problems.ts';
import { createCustomFormatRoutes } from './intake/custom/routes.ts';
import { createCustomRoute, createFormatRoutes } from './intake/format-routes.ts';
import { createAppendOnce } from './intake/forwarded-ids.ts';
import { toFingerprint } from './intake/hashes.ts';
import { createAlertMeters } from './intake/meters.ts';
import { openAlertLog } from './log/open-alert-log.ts';
import { alertTransfer } from './log/transfer.ts';
import { createAlertRoutes } from './routes.ts';
import { createSearchRoutes } from './search/routes.ts';
import { alertSettings } from './settings.ts';
import { createAlertsTopic } from './topic.ts';

/** Feature that receives, stores, lists and searches alerts. */
export const alerts = defineFeature({
  name: 'alerts',
  needs: ['settings', 'silences', 'incidents', 'notifications'],
  profiles: [{ name: 'alerts', aliases: ['X'], mounts: ['/'], summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  findProblems: findIntakeProblems,
  tools: [testIntake],
  transfer: alertTransfer,
  create: async (parts) => {
    const { storage, identifySender, keys, listUnavailable, clock, meters, settings, offers, log } = parts;
    const { database } = storage;
    const resolveTimeoutMs = () => settings.resolveTimeout * 1000;
    const times = new ReceiptTimes(resolveTimeoutMs);
    const alertLog = await openAlertLog({
      ...parts,
      repeatAfterMs: () => offers.notifications.repeatAfterMs(),
      onReceived: (record) => times.receive(record),
    });
    const { journal, isOwn, store, firing, readiness, whenRead } = alertLog;
    const copies = database
      ? createDatabaseCopies(times, database)
      : createFileCopies(times, storage.file('alerts.heard'));
    const lease = database ? createLease(database, 'alert-ends') : ownLease;
    const expired = new ExpiredAlerts({
      times,
      copies,
      firing,
      journal,
      store,
      lease,
      whenRead,
      resolveTimeoutMs,
      clock,
      log,
    });
    let begun: Promise<void> | undefined;
    const counts = createAlertMeters(meters);
    const source = createAlertSource({
      alertLog,
      counts,
      storage,
      clock,
      shareOrigin: () => {
        const [key] = database ? parts.deriveSecrets('origin') : [];
        return key && toFingerprint([key.toString('hex')]);
      },
      quietMsOf: async (isWanted) => {
        await begun;
        return times.quietMsOf(isWanted);
      },
    });
    const keeper = new SettingKeeper(formatKind, {
      settings: offers.settings,
      configured: settings.intake,
      onUnusable: (name, err) => log.error({ err, name }, 'intake: a format cannot be used, and its path returns 404'),
    });
    // Unusable stored formats are reported on startup.
    keeper.list();
    const shared = {
      journal,
      store,
      appendOnce: createAppendOnce(store, journal, keys, clock),
      counts,
      clock,
      identifySender,
      secrets: settings.intakeSecrets ?? {},
    } as const;
    return {
      offers: { alerts: source },
      profiles: {
        alerts: [
          ...createAlertRoutes({ ...shared, readiness, listUnavailable }),
          ...createFormatRoutes(shared),
          createCustomRoute(shared, keeper),
          ...createCustomFormatRoutes(keeper, clock),
          ...createSearchRoutes({
            journal,
            firing,
            clock,
            // An instance delivers only alerts that it has received itself.
            deliveriesOf: (record) => (isOwn(record) ? offers.notifications.deliveriesOf(record) : []),
            nameIncidents: async (records) => offers.incidents.nameIncidents(records),
          }),
        ],
      },
      topics: { alerts: createAlertsTopic(journal, firing) },
      notices: alertLog.notices,
      start: () => {
        alertLog.beginRetention();
        begun = expired.begin();
      },
      reload: ({ intake }) => {
        keeper.configure(intake);
        return [];
      },
      close: async () => {
        await expired.close();
        await alertLog.close();
      },
    };
  },
});
