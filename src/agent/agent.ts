import { hostname } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import type { AlertRecord } from '../features/alerts/alert.ts';
import { createAlertSource } from '../features/alerts/alert-source.ts';
import { ReceiptTimes } from '../features/alerts/firing/receipt-times.ts';
import { toIntakeRefusal } from '../features/alerts/intake/intake-refusal.ts';
import { createAlertMeters } from '../features/alerts/intake/meters.ts';
import { storeNative } from '../features/alerts/intake/store-native.ts';
import { openFileLog } from '../features/alerts/log/file-log.ts';
import { AlertBody } from '../features/alerts/schema.ts';
import { HeartbeatAlerter } from '../features/heartbeats/alerter.ts';
import { HeartbeatKeeper } from '../features/heartbeats/keeper.ts';
import { createLastAlive } from '../features/heartbeats/last-alive.ts';
import { receivePing } from '../features/heartbeats/receive-ping.ts';
import { listReported } from '../features/heartbeats/reported.ts';
import { HeartbeatStore, heartbeatLog } from '../features/heartbeats/store.ts';
import { HubClient } from '../features/reports/hub-client.ts';
import { KeptReadings } from '../features/reports/kept-readings.ts';
import { Reporter } from '../features/reports/reporter.ts';
import { openRuntimeSettings } from '../features/settings/open-settings.ts';
import { toInstancePlace } from '../features/watches/gone-places.ts';
import { type WatchKeeper, watchKind } from '../features/watches/kind.ts';
import { listDefaultWatches } from '../features/watches/known-watch.ts';
import { ReceivedWatches } from '../features/watches/pushed.ts';
import { Watcher } from '../features/watches/watcher.ts';
import { createHostReadings } from '../host/index.ts';
import { isAccessible, listPowerShellPaths, systemPaths } from '../host/programs.ts';
import { parseObjectBody } from '../http/object-body.ts';
import { toValidationRefusal } from '../http/validation.ts';
import type { AlertSource } from '../kit/alert-source.ts';
import type { Concern } from '../kit/feature.ts';
import { ReportCollector } from '../kit/host-report/collector.ts';
import type { CommandSource, PushedWatches } from '../kit/offers.ts';
import { openReach } from '../kit/reach.ts';
import { SettingKeeper } from '../kit/setting-keeper.ts';
import type { SettingStore } from '../kit/setting-store.ts';
import { createSchemaCheck, listSchemaErrors } from '../lib/schema-validation.ts';
import { createMeters } from '../metrics/meters.ts';
import { programVersion } from '../server/package-info.ts';
import { type AppStorage, openStorage } from '../server/storage.ts';
import { readSpace } from '../storage/journal/files.ts';
import { ownLease } from '../storage/postgres/lease.ts';
import type { AgentSettings } from './agent-settings.ts';
import { openHubForwarder } from './hub-forwarder.ts';
import { type LocalHandlers, LocalServer } from './local-server.ts';

const hubConcern = { area: 'deliveries', severity: 'ERROR', text: 'The hub does not accept alerts' } as const;

/** Sender recorded for alerts from programs on this machine. */
const localSender = 'address:unknown';

export interface Agent {
  /** Listens on a socket path and starts all background work. */
  listen(path: string): Promise<void>;
  /** Completes acknowledged work, and tells the hub that the agent is stopping. */
  close(): Promise<void>;
}

interface Common {
  settings: AgentSettings;
  storage: AppStorage;
  host: ReturnType<typeof createHostReadings>;
  meters: ReturnType<typeof createMeters>;
  clock: () => Date;
  log: FastifyBaseLogger;
  /** Registers a function to call when the agent closes. Functions run in reverse order of registration. */
  onClose(close: () => unknown): void;
}

/**
 * Opens only the parts of a server that watch this machine and report to a hub, to save memory. Rejects with a
 * SettingsError if a setting is unusable.
 */
export const openAgent = async (settings: AgentSettings, log: FastifyBaseLogger): Promise<Agent> => {
  const clock = () => new Date();
  const meters = createMeters();
  const host = createHostReadings();
  const closing: (() => unknown)[] = [() => host.close()];
  const onClose = (close: () => unknown): void => {
    closing.unshift(close);
  };
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0)) await each();
  };
  try {
    const { hub } = settings;
    const storage = await openStorage(
      { ...settings, store: 'memory' },
      { name: '', version: programVersion, log, meters },
    );
    onClose(() => storage.close());
    const common: Common = { settings, storage, host, meters, clock, log, onClose };
    const runtime = await openRuntimeSettings(common);
    onClose(runtime.close);
    const { alertLog, source, receiveAlert } = await openAlerts(common);
    const client = new HubClient(hub);
    const forwarder = await openHubForwarder({
      ...common,
      hub,
      client,
      source,
      retainBytes: settings.outboxRetainBytes,
    });
    onClose(() => forwarder.close());
    const heartbeats = await openHeartbeats(common, runtime.store, source);
    const watches = await openWatches(common, runtime.store, source, () => [
      ...(forwarder.health.failing ? [hubConcern] : []),
      ...storage.findStorageConcerns(alertLog.readiness().isReady ? [] : ['alerts']),
    ]);
    const kept = new KeptReadings(storage.file('hub.readings'));
    await kept.load();
    const reporter = new Reporter({
      collector: new ReportCollector(host, programVersion, clock),
      client,
      kept,
      watches,
      heartbeats,
      commands: settings.allowCommands ? await openCommands(common) : undefined,
      hub: new URL(hub.url).host,
      // Undelivered alerts do not wait for their next retry.
      onReceived: () => forwarder.queue.retryAll({ ignoresRetryAfter: false }),
      log,
      clock,
    });
    onClose(() => reporter.close());
    const server = new LocalServer({ receiveAlert, receivePing: heartbeats.receivePing }, log);
    onClose(() => server.close());
    return {
      listen: async (path) => {
        await server.listen(path);
        alertLog.beginRetention();
        heartbeats.start();
        watches.start();
        reporter.start();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Opens the alert log and the intake for programs on this machine. */
const openAlerts = async ({ settings, storage, meters, clock, log, onClose }: Common) => {
  const times = new ReceiptTimes(() => settings.resolveTimeout * 1000);
  const alertLog = await openFileLog({
    settings,
    storage,
    meters,
    clock,
    log,
    repeatAfterMs: () => undefined,
    onReceived: (record) => times.receive(record),
  });
  onClose(() => alertLog.close());
  const counts = createAlertMeters(meters);
  const source = createAlertSource({
    alertLog,
    counts,
    storage,
    clock,
    shareOrigin: () => undefined,
    quietMsOf: async (isWanted) => times.quietMsOf(isWanted),
  });
  const { store } = alertLog;
  const intake = { store, counts, appendOnce: (record: AlertRecord, key: string) => store.appendOnce(record, key) };
  const isValid = createSchemaCheck(AlertBody);
  const receiveAlert: LocalHandlers['receiveAlert'] = async (bytes, headers) => {
    const body = parseObjectBody(bytes);
    if (!isValid(body)) throw toValidationRefusal(listSchemaErrors(AlertBody, body));
    try {
      return (await storeNative(intake, body, { now: clock(), sender: localSender }, headers)).id;
    } catch (error) {
      throw toIntakeRefusal(error);
    }
  };
  return { alertLog, source, receiveAlert };
};

const openHeartbeats = async (
  { settings, storage, clock, log, onClose }: Common,
  runtime: SettingStore,
  alerts: AlertSource,
) => {
  const pings = await storage.log('heartbeats', heartbeatLog);
  const store = await HeartbeatStore.open({ log: pings, snapshot: storage.snapshot('heartbeats'), report: log });
  onClose(() => store.close());
  const keeper = new HeartbeatKeeper({
    settings: runtime,
    configured: settings.heartbeats,
    onUnusable: (name, err) =>
      log.error({ err, name }, 'heartbeats: a stored heartbeat cannot be used and has no effect'),
  });
  const alerter = new HeartbeatAlerter({
    store,
    alive: createLastAlive(storage.file('heartbeats.alive')),
    keeper,
    lease: ownLease,
    alerts,
    clock,
    log,
    patienceMs: 0,
  });
  onClose(() => alerter.close());
  const parts = { store, keeper, clock, count: () => undefined, assertAllowed: () => undefined };
  const receive: LocalHandlers['receivePing'] = ({ query, ...ping }) =>
    receivePing(parts, {
      ...ping,
      rid: query.get('rid') ?? undefined,
      create: query.get('create'),
      readCaller: () => localSender,
    });
  return {
    start: () => alerter.start(),
    receivePing: receive,
    list: () => listReported({ store, keeper, alerter, clock }),
  };
};

/** Opens this machine's own watches, and the watches that the hub sends. */
const openWatches = async (
  { settings, storage, host, clock, log, onClose }: Common,
  runtime: SettingStore,
  alerts: AlertSource,
  findOwnConcerns: () => Concern[],
) => {
  const watcher: Watcher = new Watcher({
    host,
    findConcerns: async () => [...watcher.findConcerns(), ...findOwnConcerns()],
    readDataSpace: () => readSpace(storage.directory),
    clock,
    log,
    journal: alerts.journal,
    quietMsOf: alerts.quietMsOf,
    alerts,
    // Only the hub has incidents.
    incidents: { catchUp: async () => undefined, listUnsettled: async () => [] },
    history: undefined,
    reach: openReach(settings.watchTargets),
    leases: { machine: ownLease, network: ownLease, instance: ownLease },
    places: { machine: hostname(), network: '', instance: toInstancePlace('signalbox') },
    isShared: false,
  });
  onClose(() => watcher.close());
  const keeper: WatchKeeper = new SettingKeeper(watchKind, {
    settings: runtime,
    configured: settings.watches,
    defaults: settings.defaultWatches ? listDefaultWatches(await isAccessible(systemPaths.bootMark)) : [],
  });
  const received = new ReceivedWatches(storage.file('hub.watches'), log);
  await received.load();
  const apply = (): void => watcher.set(received.merge(keeper.list()));
  apply();
  return {
    start: () => watcher.start(),
    get receivedId() {
      return received.id;
    },
    receive: async (watches: PushedWatches) => {
      await received.set(watches);
      apply();
    },
    listChecks: () => watcher.listChecks(),
  };
};

/** Opens the commands that the hub may run. Loads the code only if commands are allowed. */
const openCommands = async ({ settings, storage, host, clock, onClose }: Common): Promise<CommandSource> => {
  const { openExecutor } = await import('../features/commands/open-executor.ts');
  const { createCommandSource } = await import('../features/commands/command-source.ts');
  const { powershellPath } = settings;
  const powerShellPaths = powershellPath === undefined ? listPowerShellPaths() : [powershellPath];
  const { executor, close } = await openExecutor({
    settings,
    storage,
    host,
    clock,
    powerShellPaths,
    count: () => undefined,
  });
  onClose(close);
  return createCommandSource(executor);
};
