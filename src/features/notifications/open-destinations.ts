import type { AlertSource } from '../../kit/alert-source.ts';
import type { NotificationSource } from '../../kit/offers.ts';
import { parseJsonList } from '../../lib/parse-json.ts';
import { createSerial } from '../../lib/scheduling.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import { type DestinationDefinition, toDestinationDefinition } from './destinations/definition.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { type AnyDestination, createOpener, type OpenerParts } from './open-destination.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import type { Delivered } from './queue/destination.ts';
import type { DestinationSettings } from './settings.ts';

/** Settings of all destinations. */
export interface DestinationEntries {
  /** Destinations from the config file. */
  configured: readonly DestinationSettings[];
  /** Destinations from the runtime settings. */
  runtime?: readonly DestinationSettings[];
  /** Contact methods of people. */
  ways?: readonly DestinationDefinition[];
  /** Creation times of all runtime settings by name, including names that the config file overrides. */
  createdAt?: ReadonlyMap<string, number>;
}

interface OpenDestinations extends Pick<NotificationSource, 'repeatAfterMs' | 'deliveriesOf'> {
  list(): readonly AnyDestination[];
  /**
   * Opens destinations that have changed. Makes the others retry now. Resolves once all are open or their errors have
   * been logged.
   */
  reload(entries: DestinationEntries): Promise<void>;
  close(): Promise<void>;
}

/** Opens the destinations. They then start to send. Throws a SettingsError if a destination is unusable. */
export const openDestinations = async (
  { outboxRetainBytes, ...entries }: DestinationEntries & { outboxRetainBytes: number },
  source: AlertSource,
  parts: OpenerParts,
): Promise<OpenDestinations> => {
  const { own: alerts } = source;
  const { log, incidentDestinations } = parts;
  const serially = createSerial();
  let destinations: AnyDestination[] = [];
  const ofAlerts = (): Forwarder[] => destinations.filter((one) => one instanceof Forwarder);
  let stored: number | undefined;
  /** Destinations to open once the database has supplied the last `seq` in the log. */
  let planned: DestinationEntries | undefined;
  const retrySameHost = ({ name, definition }: Delivered): void => {
    for (const one of destinations) {
      if (one.name !== name && one.definition.address === definition.address) one.queue.retryEarly();
    }
  };
  const { open, retire } = createOpener(source, parts, retrySameHost);
  const updateRegistry = await openRegistry(parts.storage.file('outbox.destinations'), (name) =>
    retire(name, stored ?? 0).catch((err: unknown) => {
      log.warn({ err, destination: name }, 'outbox: the alert about a removed destination might not be resolved');
      return false;
    }),
  );
  const load = async (next: DestinationEntries): Promise<void> => {
    const { configured, runtime = [], ways = [], createdAt } = next;
    const check = (one: DestinationSettings, isRuntimeSetting: boolean) =>
      toDestinationDefinition(one, isRuntimeSetting, createdAt?.get(one.name));
    const definitions = [
      ...configured.map((one) => check(one, false)),
      ...runtime.map((one) => check(one, true)),
      ...ways,
    ];
    planned = stored === undefined ? next : undefined;
    if (stored === undefined) return;
    const [kept, others] = [new Set<AnyDestination>(), [] as DestinationDefinition[]];
    const known = new Map(destinations.map((one) => [toIdentity(one.definition), one]));
    for (const definition of definitions) {
      const same = known.get(toIdentity(definition));
      if (same) kept.add(same);
      else others.push(definition);
    }
    await Promise.all(destinations.filter((one) => !kept.has(one)).map((one) => one.close()));
    destinations = [...kept];
    await updateRegistry(definitions.map(({ settings: { name } }) => name));
    for (const one of kept) one.queue.retryAll({ ignoresRetryAfter: false });
    for (const definition of others) {
      const opened = await open(definition, stored);
      destinations = [...destinations, opened];
      if (opened instanceof Forwarder) opened.noteStored(stored);
    }
    incidentDestinations.replace(destinations.filter((one) => one instanceof IncidentDestination));
  };
  const reload = (next: DestinationEntries): Promise<void> =>
    serially(() => load(next)).catch((err: unknown) =>
      log.error({ err }, 'outbox: the destinations could not be changed'),
    );
  const stop = alerts.onStored((seq) => {
    stored = seq;
    if (planned) void reload(planned);
    planned = undefined;
    for (const one of ofAlerts()) one.noteStored(seq);
  });
  // Alerts stored before the listener was added.
  stored = alerts.state().lastSeq;
  const close = (): Promise<void> => {
    stop();
    return serially(async () => {
      await Promise.all(destinations.map((one) => one.close()));
    });
  };
  try {
    await load(entries);
    const readFrom = () => Math.min(...ofAlerts().map(({ progress }) => progress.cursor));
    await alerts.holdFrom(readFrom, outboxRetainBytes, (seq) => {
      for (const one of ofAlerts()) one.drop(seq);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    list: () => destinations,
    reload,
    close,
    deliveriesOf: (record) => ofAlerts().map((one) => one.describe(record)),
    repeatAfterMs: () => {
      const shortest = Math.min(
        ...ofAlerts()
          .map((one) => one.repeatMinutes)
          .filter((minutes) => minutes > 0),
      );
      return Number.isFinite(shortest) ? shortest * 60_000 : undefined;
    },
  };
};

/** Returns a string that identifies a definition. If two definitions have equal strings, the open destination can be kept. */
const toIdentity = ({ settings, receiver, isRuntimeSetting, createdAt, way }: DestinationDefinition): string => {
  const { secrets, headers, trust } = receiver;
  return JSON.stringify([settings, secrets, headers, isRuntimeSetting, createdAt, trust, way]);
};

/**
 * Opens the file with the names of destinations. It reveals removed destinations even after a restart. The returned
 * function stores the current names. It retires each removed destination until `retire` resolves to true.
 */
const openRegistry = async (file: ReplacedFile, retire: (name: string) => Promise<boolean>) => {
  let known = parseJsonList(String(await file.read()), (name) => typeof name === 'string');
  return async (names: readonly string[]): Promise<void> => {
    const left: string[] = [];
    for (const name of known) if (!names.includes(name) && !(await retire(name))) left.push(name);
    const next = [...names, ...left];
    // If the file cannot be written, the names stay in memory until the restart.
    if (next.join() !== known.join()) await file.write(Buffer.from(JSON.stringify(next))).catch(() => undefined);
    known = next;
  };
};
