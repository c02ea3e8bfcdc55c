import type { Concern, Parts } from '../../kit/feature.ts';
import type { AlertSource, NotificationSource, SilenceSource } from '../../kit/offers.ts';
import { RecentValues } from '../../kit/recent-values.ts';
import type { Targets } from '../../kit/targets.ts';
import { parseJsonList } from '../../lib/parse-json.ts';
import { createSerial } from '../../lib/scheduling.ts';
import type { Meters } from '../../metrics/meters.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import { openSender } from './destinations/sender.ts';
import { type DestinationTarget, toLinkedDestination, toTarget } from './destinations/target.ts';
import { createFilter } from './forwarder/filter.ts';
import { Destination, mostRequests } from './forwarder/forwarder.ts';
import { openProgress } from './forwarder/progress.ts';
import { createMessageSender, type MessageLinks } from './message/message-sender.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import { createNotices } from './queue/receiver.ts';
import type { DestinationSettings } from './settings.ts';

/** Alerts that are kept for other destinations; each has at most a MiB. */
const mostFound = 32;

interface OutboxSettings {
  destinations: readonly DestinationSettings[];
  /** Those that were made at run time. */
  made?: readonly DestinationSettings[];
  /** When those were made that are stored, also where the config file has one of the same name. */
  madeAt?: ReadonlyMap<string, number>;
  outboxRetainBytes: number;
}

type Entries = Pick<OutboxSettings, 'destinations' | 'made' | 'madeAt'>;

interface OutboxParts extends Pick<Parts, 'openLog' | 'openFile' | 'clock' | 'log'> {
  links: MessageLinks;
  /** Addresses that destinations created at run time may reach. */
  targets: Targets;
  silences: SilenceSource | undefined;
  /** Called with those that are notified of incidents, whenever there are others. */
  onIncidentDestinations(destinations: readonly IncidentDestination[]): void;
}

/** A destination of alerts or of incidents. */
export type AnyDestination = Destination | IncidentDestination;

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
  const ofAlerts = (): Destination[] => destinations.filter((one) => one instanceof Destination);
  let stored: number | undefined;
  /** What to deliver once the database says how far the log is. */
  let planned: Entries | undefined;
  const hurryOthers = (delivered: AnyDestination): void => {
    for (const one of destinations) {
      if (one !== delivered && one.target.address === delivered.target.address) one.hurry();
    }
  };
  const { open, retire } = createOpener(source, parts, hurryOthers);
  const updateRegistry = await openRegistry(parts.openFile('outbox.destinations'), (name) =>
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
    for (const one of kept) one.retryWaiting({ ignoresRetryAfter: false });
    for (const target of others) {
      const opened = await open(target, stored);
      destinations = [...destinations, opened];
      if (opened instanceof Destination) opened.noteStored(stored);
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

/** Finds alerts by id for all destinations: they tell of the same incidents at about the same time. */
const createAlertFinder = ({ journal }: AlertSource): ((id: string) => Promise<StoredRecord | undefined>) => {
  const found = new RecentValues<Promise<StoredRecord | undefined>>(mostFound);
  return (id) =>
    found.get(id, () => {
      const finding = journal.find(id);
      finding.then(
        (record) => record ?? found.delete(id),
        () => found.delete(id),
      );
      return finding;
    });
};

/** Opens destinations, and ends the alert about one that was removed; what they need is loaded with the first one. */
const createOpener = (
  source: AlertSource,
  { openLog, openFile, clock, log, silences, links, targets }: OutboxParts,
  onDelivered: (destination: AnyDestination) => void,
) => {
  let known: string | undefined;
  const findAlert = createAlertFinder(source);
  const prepare = async () => {
    known ??= await source.readInstance();
    const origin = source.shareOrigin() ?? known;
    return { instance: known, origin, notices: createNotices({ instance: known, raise: source.raise, clock, log }) };
  };
  return {
    open: async (target: DestinationTarget, stored: number): Promise<AnyDestination> => {
      const { instance, origin, notices } = await prepare();
      const {
        name,
        notify = 'alerts',
        concurrency = notify === 'alerts' ? 1 : mostRequests,
        startAt,
      } = target.settings;
      const { madeAt } = target;
      const start = startAt === 'oldest' ? 0 : stored;
      const kept = await openProgress(name, { openLog, openFile, log, start, stored });
      // One connection more, for alerts that an administrator sends again.
      const sender = await openSender(target, mostRequests + 1, clock, targets);
      const isOfIncidents = notify === 'incidents';
      // Another one had the name: what was for that one, and what came since, is not for this one.
      if (![undefined, madeAt].includes(kept.progress.madeAt)) kept.progress.restart(start);
      // If it gets alerts again, those are the ones that come then.
      if (isOfIncidents || kept.progress.isOfIncidents) kept.progress.skipTo(stored);
      const isChanged = isOfIncidents !== kept.progress.isOfIncidents || madeAt !== kept.progress.madeAt;
      Object.assign(kept.progress, { isOfIncidents, madeAt });
      if (isChanged) await kept.write();
      if (isOfIncidents) {
        const messages = createMessageSender({
          destination: toLinkedDestination(target.settings, target.isMade ? madeAt : null),
          instance,
          origin,
          sender,
          links,
          findAlert,
          log,
        });
        return new IncidentDestination({
          target,
          kept,
          sender: messages,
          concurrency,
          notices,
          clock,
          log,
          onDelivered,
        });
      }
      const accepts = createFilter(target.settings, instance, silences);
      return new Destination({
        target,
        instance,
        origin,
        accepts,
        alerts: source.own,
        findAlert,
        kept,
        sender,
        notices,
        clock,
        log,
        onDelivered,
      });
    },
    /** Resolves to whether no alert about the destination fires. */
    retire: async (name: string, start: number): Promise<boolean> => {
      const { notices } = await prepare();
      const stored = Number.POSITIVE_INFINITY;
      const { progress, close } = await openProgress(name, { openLog, openFile, log, start, stored });
      const { failing: _, ...receiver } = progress.receiver;
      progress.receiver = receiver;
      await notices.update(name, progress);
      await close();
      return !notices.isOutdated(progress.receiver);
    },
  };
};

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

/** An alert that waits for longer needs somebody's attention. */
const longWaitMs = 5 * 60_000;

/** What needs attention at the destinations, the worst first. */
export const findDeliveryConcerns = (all: readonly AnyDestination[], now: Date): Concern[] => {
  const destinations = all.filter((one) => one instanceof Destination);
  const failing = all.filter(({ receiver }) => receiver.failing).length;
  const late = all.filter((one) => one instanceof IncidentDestination && isLate(one, now)).length;
  const waiting = destinations.reduce((sum, { waiting: alerts }) => {
    let late = 0;
    for (const { receivedAt } of alerts.list()) if (now.getTime() - receivedAt > longWaitMs) late += 1;
    return sum + late;
  }, 0);
  const parked = destinations.reduce((sum, { progress }) => sum + progress.parkedCount, 0);
  const found: [count: number, severity: Concern['severity'], one: string, many: string][] = [
    [failing, 'ERROR', 'destination is failing', 'destinations are failing'],
    [
      waiting,
      'WARNING',
      'alert has waited for its delivery for over 5 minutes',
      'alerts have waited for their delivery for over 5 minutes',
    ],
    [
      late,
      'WARNING',
      'destination has not been notified of incidents for over 5 minutes',
      'destinations have not been notified of incidents for over 5 minutes',
    ],
    [parked, 'WARNING', 'alert was not delivered and is parked', 'alerts were not delivered and are parked'],
  ];
  const concerns = found
    .filter(([count]) => count > 0)
    .map(([count, severity, one, many]): Concern => {
      return { area: 'deliveries', severity, text: `${count} ${count === 1 ? one : many}` };
    });
  const isUnwritten = all.some((one) => one.isUnwritten);
  return isUnwritten
    ? [{ area: 'log', severity: 'CRITICAL', text: 'The outbox cannot be written' }, ...concerns]
    : concerns;
};

const isLate = ({ waitingSince }: IncidentDestination, now: Date): boolean =>
  waitingSince !== undefined && now.getTime() - waitingSince > longWaitMs;

/** Measures each destination when metrics are scraped. */
export const addDeliveryMeters = (
  { reading }: Meters,
  list: () => readonly AnyDestination[],
  clock: () => Date,
): void => {
  const ofAlerts = () => list().filter((one) => one instanceof Destination);
  const ofIncidents = () => list().filter((one) => one instanceof IncidentDestination);
  const gauge = <T extends AnyDestination>(
    name: string,
    help: string,
    of: () => readonly T[],
    read: (one: T) => number,
  ) => reading('gauge', name, help, () => of().map((each) => [[each.name], read(each)] as const), ['destination']);
  reading(
    'counter',
    'signalbox_deliveries_total',
    'Attempts to deliver an alert, by result.',
    () =>
      list().flatMap(({ name, receiver }) =>
        Object.entries(receiver.outcomes).map(([result, count]) => [[name, result], count] as const),
      ),
    ['destination', 'result'],
  );
  reading(
    'counter',
    'signalbox_notifications_total',
    'Notifications of incidents that were sent or given up, by event and result.',
    () =>
      ofIncidents().flatMap(({ name, counts }) =>
        Array.from(counts, ([key, count]) => [[name, ...key.split(' ')], count] as const),
      ),
    ['destination', 'what', 'result'],
  );
  gauge(
    'signalbox_delivery_lag_alerts',
    'Alerts that the destination has not finished with.',
    ofAlerts,
    ({ lag }) => lag,
  );
  gauge(
    'signalbox_notifications_waiting',
    'Incidents for which a notification is due now.',
    ofIncidents,
    ({ lag }) => lag,
  );
  gauge(
    'signalbox_delivery_parked_alerts',
    'Alerts that were given up.',
    ofAlerts,
    ({ progress }) => progress.parkedCount,
  );
  gauge(
    'signalbox_destination_failing',
    'Whether the receiver refuses the destination or cannot be reached: 1 or 0.',
    list,
    ({ receiver }) => (receiver.failing ? 1 : 0),
  );
  gauge(
    'signalbox_delivery_oldest_pending_seconds',
    'Age of the oldest alert, or news of an incident, that waits; 0 if none does.',
    list,
    ({ waitingSince }) => (waitingSince === undefined ? 0 : Math.max(0, clock().getTime() - waitingSince) / 1000),
  );
};
