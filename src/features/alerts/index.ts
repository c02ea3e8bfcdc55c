import { hostname } from 'node:os';
import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { ownSender, readTime } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import { defineFeature, defineTransfer, RecordId } from '../../kit/feature.ts';
import { nullable } from '../../kit/route.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { isFeatureEvent } from '../../storage/journal/line.ts';
import { type PortableRecord, SeenIds } from '../../storage/portable-store.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import { createAlert } from './alert.ts';
import { ExpiredAlerts } from './firing/expired-alerts.ts';
import { createDatabaseCopies, createFileCopies } from './firing/receipt-copies.ts';
import { ReceiptTimes } from './firing/receipt-times.ts';
import { formatKind } from './intake/custom/kind.ts';
import { testIntake } from './intake/custom/preview.ts';
import { findIntakeProblems } from './intake/custom/problems.ts';
import { createCustomFormatRoutes } from './intake/custom/routes.ts';
import { createCustomRoute, createFormatRoutes } from './intake/format-routes.ts';
import { toFingerprint } from './intake/hashes.ts';
import { createAlertMeters } from './intake/meters.ts';
import { readInstanceId } from './log/instance-id.ts';
import { openAlertLog } from './log/open-alert-log.ts';
import { splitKey } from './log/repeat-keys.ts';
import { createAlertRoutes } from './routes.ts';
import { Alert, alertSettings } from './schema.ts';
import { createSearchRoutes } from './search/routes.ts';
import { createAlertsTopic } from './topic.ts';

const Text = Type.String();
const TextOrNull = nullable(Text);

const StoredAlert = Type.Object(
  {
    ...Alert.properties,
    ...Type.Partial(
      Type.Object({
        time: Type.String({ format: 'date-time' }),
        sender: Text,
        format: Text,
        status: Type.Enum(['firing', 'resolved']),
        acknowledges: Type.Literal(true),
        fingerprint: Text,
        startsAt: TextOrNull,
        endsAt: TextOrNull,
        labels: Type.Record(Text, Text),
        link: Text,
        details: Text,
        links: Type.Record(Text, Text),
        resolves: Text,
        firingLevel: Text,
        firingSince: Text,
        repeatOf: Text,
        expired: Type.Literal(true),
        key: Text,
        bodyHash: Text,
        via: Text,
        traceparent: Text,
      }),
    ).properties,
    id: RecordId,
  },
  { additionalProperties: false },
);

/** Alerts in the order of their log, with the keys of repeats. No destination gets imported alerts. */
const alertTransfer = defineTransfer<PortableRecord>({
  name: 'alerts',
  lines: { alerts: StoredAlert },
  table: createRecordTable('alert', {
    timeOf: readTime,
    levelOf: ({ level }) => level,
    hasEvents: true,
    keys: {
      // A reminder is no first alert.
      read: ({ key, bodyHash, repeatOf }) => {
        if (typeof key !== 'string' || repeatOf !== undefined) return undefined;
        const { hash, state } = splitKey(key);
        return { hash, state: typeof bodyHash === 'string' ? bodyHash : state };
      },
      // Every other alert has its key in its record, so this key is an Idempotency-Key.
      add: (record, { hash, state }) => (record['repeatOf'] ? record : { ...record, key: hash, bodyHash: state }),
    },
  }),
  toLine: ({ id, record: { imported: _, ...record } }) =>
    isFeatureEvent(record) ? undefined : ['alerts', { ...record, id }],
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { id, ...record } = value as Static<typeof StoredAlert>;
      if (!seen.add(id)) throw new SettingsError(['alerts.id is the id of an earlier alert']);
      return { id, record: { ...record, imported: true } };
    };
  },
});

/** Receives, stores, lists and searches alerts. */
export const alerts = defineFeature({
  name: 'alerts',
  needs: ['settings', 'silences', 'incidents', 'notifications'],
  profiles: [{ name: 'alerts', aliases: ['X'], mounts: ['/'], summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  findProblems: findIntakeProblems,
  tools: [testIntake],
  transfer: alertTransfer,
  create: async (parts) => {
    const { storage, identifySender, listUnavailable, clock, meters, settings, offers, log } = parts;
    const { database } = storage;
    const resolveTimeoutMs = () => settings.resolveTimeout * 1000;
    const times = new ReceiptTimes(resolveTimeoutMs);
    const alertLog = await openAlertLog({
      ...parts,
      repeatAfterMs: () => offers.notifications.repeatAfterMs(),
      onReceived: (record) => times.receive(record),
    });
    const { journal, events, own, isOwn, store, firing, readiness, whenRead } = alertLog;
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
    const source: AlertSource = {
      journal,
      events,
      isOwn,
      own,
      readInstance: () => readInstanceId(storage),
      shareOrigin: () => {
        const [key] = database ? parts.deriveKeys('origin') : [];
        return key && toFingerprint([key.toString('hex')]);
      },
      countReceived: counts.countReceived,
      raise: async ({ level, message, source = ownSender, hostname: host = hostname(), ...details }) => {
        const record = createAlert({ source, level, message, hostname: host }, { now: clock(), sender: ownSender });
        const stored = await store.append({ ...record, ...details });
        counts.addReceived(details.format ?? 'native', level);
        return stored;
      },
      listRaised: async (format) => {
        await alertLog.whenRead();
        return firing.state.listSeries(ownSender, format);
      },
      silenceOf: async (isWanted) => {
        await begun;
        return times.silenceOf(isWanted);
      },
    };
    const keeper = new SettingKeeper(formatKind, {
      settings: offers.settings,
      configured: settings.intake,
      onUnusable: (name, err) => log.error({ err, name }, 'intake: a format cannot be used, so its path is 404'),
    });
    // A stored format that cannot be used is reported on startup.
    keeper.list();
    const shared = { journal, store, counts, clock, identifySender, secrets: settings.intakeSecrets ?? {} } as const;
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
            // An instance delivers only the alerts that it has received.
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
