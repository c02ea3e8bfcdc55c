import type { AlertSource } from '../../kit/alert-source.ts';
import type { NotificationSource } from '../../kit/offers.ts';
import { parseJsonList } from '../../lib/parse-json.ts';
import { createSerial } from '../../lib/scheduling.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import { type DestinationTarget, toTarget } from './destinations/target.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { type AnyDestination, createOpener, type OpenerParts } from './open-destination.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import type { Delivered } from './queue/destination.ts';
import type { DestinationSettings } from './settings.ts';

interface OutboxSettings {
  destinations: readonly DestinationSettings[];
  /** Those that were made at run time. */
  made?: readonly DestinationSettings[];
  /** When those were made that are stored, also where the config file has one of the same name. */
  madeAt?: ReadonlyMap<string, number>;
  outboxRetainBytes: number;
}

type Entries = Pick<OutboxSettings, 'destinations' | 'made' | 'madeAt'>;

interface OutboxParts extends OpenerParts {
  /** Called with those that are notified of incidents, whenever there are others. */
  onIncidentDestinations(destinations: readonly IncidentDestination[]): void;
}

interface Outbox extends Pick<NotificationSource, 'repeatAfterMs' | 'deliveriesOf'> {
  list(): readonly AnyDestination[];
  /**
   * Takes over changed destinations in the background; those that have not changed try again now. Resolves when it has, or
   * has logged why it could not.
   */
  reload(settings: OutboxSettings): Promise<void>;
  close(): Promise<void>;
}

/** Sends the alerts of the log to the destinations. Throws a SettingsError for destinations that cannot be used. */
export const openOutbox = async (
  settings: OutboxSettings,
  source: AlertSource,
  parts: OutboxParts,
): Promise<Outbox> => {
  const { own: alerts } = source;
  const { log } = parts;
  const serially = createSerial();
  let destinations: AnyDestination[] = [];
  const ofAlerts = (): Forwarder[] => destinations.filter((one) => one instanceof Forwarder);
  let stored: number | undefined;
  /** What to deliver once the database says how far the log is. */
  let planned: Entries | undefined;
  const hurryOthers = ({ name, target }: Delivered): void => {
    for (const one of destinations) {
      if (one.name !== name && one.target.address === target.address) one.queue.hurry();
    }
  };
  const { open, retire } = createOpener(source, parts, hurryOthers);
  const updateRegistry = await openRegistry(parts.storage.file('outbox.destinations'), (name) =>
    retire(name, stored ?? 0).catch((err: unknown) => {
      log.warn({ err, destination: name }, 'outbox: the alert about a removed destination may fire on');
      return false;
    }),
  );
  const load = async (entries: Entries): Promise<void> => {
    const { destinations: configured, made = [], madeAt } = entries;
    const check = (one: DestinationSettings, isMade: boolean) => toTarget(one, isMade, madeAt?.get(one.name));
    const targets = [...configured.map((one) => check(one, false)), ...made.map((one) => check(one, true))];
    planned = stored === undefined ? entries : undefined;
    if (stored === undefined) return;
    const [kept, others] = [new Set<AnyDestination>(), [] as DestinationTarget[]];
    const known = new Map(destinations.map((one) => [toIdentity(one.target), one]));
    for (const target of targets) {
      const same = known.get(toIdentity(target));
      if (same) kept.add(same);
      else others.push(target);
    }
    await Promise.all(destinations.filter((one) => !kept.has(one)).map((one) => one.close()));
    destinations = [...kept];
    await updateRegistry(targets.map(({ settings: { name } }) => name));
    for (const one of kept) one.queue.retryAll({ ignoresRetryAfter: false });
    for (const target of others) {
      const opened = await open(target, stored);
      destinations = [...destinations, opened];
      if (opened instanceof Forwarder) opened.noteStored(stored);
    }
    parts.onIncidentDestinations(destinations.filter((one) => one instanceof IncidentDestination));
  };
  const inBackground = (entries: Entries): Promise<void> =>
    serially(() => load(entries)).catch((err: unknown) =>
      log.error({ err }, 'outbox: the destinations could not be changed'),
    );
  const stop = alerts.onStored((seq) => {
    stored = seq;
    if (planned) void inBackground(planned);
    planned = undefined;
    for (const one of ofAlerts()) one.noteStored(seq);
  });
  // What was stored before anybody listened.
  stored = alerts.state().lastSeq;
  const close = (): Promise<void> => {
    stop();
    return serially(async () => {
      await Promise.all(destinations.map((one) => one.close()));
    });
  };
  try {
    await load(settings);
    const readFrom = () => Math.min(...ofAlerts().map(({ progress }) => progress.cursor));
    await alerts.holdFrom(readFrom, settings.outboxRetainBytes, (seq) => {
      for (const one of ofAlerts()) one.drop(seq);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    list: () => destinations,
    reload: inBackground,
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

/** The same for targets that need no new destination. */
const toIdentity = ({ settings, receiver: { secrets, headers, trust }, isMade, madeAt }: DestinationTarget): string =>
  JSON.stringify([settings, secrets, headers, isMade, madeAt, trust]);

/**
 * Keeps the names of destinations, so those that are removed while the server is off are known, too. The function that it
 * returns takes over the names of the settings; others are retired, and known until `retire` resolves to true.
 */
const openRegistry = async (file: ReplacedFile, retire: (name: string) => Promise<boolean>) => {
  let known = parseJsonList(String(await file.read()), (name) => typeof name === 'string');
  return async (names: readonly string[]): Promise<void> => {
    const left: string[] = [];
    for (const name of known) if (!names.includes(name) && !(await retire(name))) left.push(name);
    const next = [...names, ...left];
    // A registry that is not written is used until the restart.
    if (next.join() !== known.join()) await file.write(Buffer.from(JSON.stringify(next))).catch(() => undefined);
    known = next;
  };
};
