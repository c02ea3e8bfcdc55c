import type { FastifyBaseLogger } from 'fastify';
import type { DestinationDefinition } from '../features/notifications/destinations/definition.ts';
import { toTransport } from '../features/notifications/destinations/transport.ts';
import { webhookDestination } from '../features/notifications/destinations/webhook.ts';
import { createAlertFilter } from '../features/notifications/forwarder/filter.ts';
import { Forwarder } from '../features/notifications/forwarder/forwarder.ts';
import { openProgress } from '../features/notifications/forwarder/progress-file.ts';
import { toHubDestination } from '../features/notifications/hub-destination.ts';
import { createAlertFinder } from '../features/notifications/message/find-alert.ts';
import { toIncidentRules } from '../features/notifications/plan/rules.ts';
import { createFailureReports } from '../features/notifications/queue/failure-reports.ts';
import { mostRequests } from '../features/notifications/queue/queue.ts';
import type { HubClient } from '../features/reports/hub-client.ts';
import type { AlertSource } from '../kit/alert-source.ts';
import type { HubSetting } from '../kit/hub.ts';
import type { Storage } from '../storage/storage.ts';

interface HubForwarderParts {
  hub: HubSetting;
  /** Connection that is also used for reports. */
  client: Pick<HubClient, 'exchange'>;
  source: AlertSource;
  storage: Storage;
  /** Maximum size of closed log files, in bytes, that are kept until the hub has received them. */
  retainBytes: number;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/**
 * Opens the destination that sends all alerts to the hub in log order. Rejects with a SettingsError if a setting is
 * unusable.
 */
export const openHubForwarder = async (parts: HubForwarderParts): Promise<Forwarder> => {
  const { hub, client, source, storage, retainBytes, clock, log } = parts;
  const { own, journal, raise } = source;
  const instance = await source.readInstance();
  const definition = createDefinition(hub);
  const { name } = definition.settings;
  const stored = own.state().lastSeq ?? 0;
  const http = { send: client.exchange.bind(client), close: async () => undefined };
  const forwarder = new Forwarder({
    definition,
    kept: await openProgress(name, { storage, log, start: stored, stored }),
    transport: toTransport(definition, http, clock),
    concurrency: 1,
    maxRequests: mostRequests,
    reports: createFailureReports({ instance, raise, clock, log }),
    clock,
    log,
    onDelivered: () => undefined,
    instance,
    origin: instance,
    accepts: createAlertFilter(definition.settings, instance, { silencesOf: () => [] }),
    alerts: own,
    findAlert: createAlertFinder(journal),
  });
  own.onStored((seq) => forwarder.noteStored(seq));
  forwarder.noteStored(stored);
  await own.holdFrom(
    () => forwarder.progress.cursor,
    retainBytes,
    (seq) => forwarder.drop(seq),
  );
  return forwarder;
};

/** Returns the definition that a server also uses for its setting `hub`. The connection adds the key. */
const createDefinition = (hub: HubSetting): DestinationDefinition => {
  const settings = toHubDestination(hub);
  const url = new URL(settings.url);
  return {
    settings,
    type: webhookDestination,
    receiver: { url, settings: {}, headers: {}, secrets: [], trust: {} },
    address: url.origin,
    // Incident rules exist only on the hub.
    rules: toIncidentRules({}, () => undefined as never),
    isRuntimeSetting: false,
    createdAt: null,
  };
};
