import type { FastifyBaseLogger } from 'fastify';
import type { StoredRecord } from '../../../storage/journal/read/forward.ts';
import { createSerial } from '../../../storage/journal/scheduling.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { OpenLog } from '../../feature.ts';
import type { AlertRecord } from '../alert.ts';
import type { AlertDelivery } from '../reading/schema.ts';
import { createFilter } from './config/filter.ts';
import type { DestinationSettings } from './config/settings.ts';
import { type Target, toTarget } from './config/target.ts';
import { Destination } from './delivery/destination.ts';
import { openProgressLog } from './delivery/progress-log.ts';
import { defaultRepeatMinutes } from './delivery/reminders.ts';
import { readInstanceId } from './instance-id.ts';
import { createNotices } from './notices.ts';

interface OutboxSettings {
  destinations: DestinationSettings[];
  outboxRetainBytes: number;
}

interface Parts {
  alerts: Pick<RecordLog, 'readAfter' | 'onStored' | 'holdFrom' | 'state'>;
  openLog: OpenLog;
  /** Stores an alert of our own. */
  store: (record: AlertRecord) => Promise<{ id: string }>;
  clock: () => Date;
  log: FastifyBaseLogger;
}

export interface Outbox {
  list(): readonly Destination[];
  /** What the present destinations have done with the alert. */
  listDeliveries(record: StoredRecord): AlertDelivery[];
  /** After how many milliseconds an alert that comes again is stored again; undefined if no destination wants that. */
  repeatAfterMs(): number | undefined;
  /** Takes over changed destinations in the background; those that have not changed try again now. */
  reload(settings: OutboxSettings): void;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/** Sends the alerts of the log to the destinations. Throws a SettingsError for destinations that cannot be used. */
export const openOutbox = async (settings: OutboxSettings, parts: Parts): Promise<Outbox> => {
  const { alerts, log } = parts;
  const serially = createSerial();
  let destinations: Destination[] = [];
  let { lastSeq: stored } = alerts.state();
  /** What to deliver once the database says how far the log is. */
  let planned: readonly DestinationSettings[] | undefined;
  const hurryOthers = (delivered: Destination): void => {
    for (const one of destinations) {
      if (one !== delivered && one.target.address === delivered.target.address) one.hurry();
    }
  };
  const open = createOpener(parts, hurryOthers);
  const load = async (entries: readonly DestinationSettings[]): Promise<void> => {
    const targets = entries.map(toTarget);
    planned = stored === undefined ? entries : undefined;
    if (stored === undefined) return;
    const isKept = (one: Destination) => targets.some((target) => isSame(target, one.target));
    const kept = destinations.filter(isKept);
    for (const one of destinations) if (!entries.some(({ name }) => name === one.name)) one.retire();
    await Promise.all(destinations.filter((one) => !isKept(one)).map((one) => one.close()));
    destinations = kept;
    for (const one of kept) one.retryWaiting({ ignoresRetryAfter: false });
    for (const target of targets) {
      if (kept.some((one) => isSame(target, one.target))) continue;
      const opened = await open(target, stored);
      destinations = [...destinations, opened];
      opened.noteStored(stored);
      opened.start();
    }
  };
  const inBackground = (entries: readonly DestinationSettings[]): void => {
    serially(() => load(entries)).catch((err: unknown) =>
      log.error({ err }, 'outbox: the destinations could not be changed'),
    );
  };
  const stop = alerts.onStored((seq) => {
    stored = seq;
    if (planned) inBackground(planned);
    planned = undefined;
    for (const one of destinations) one.noteStored(seq);
  });
  const close = (): Promise<void> => {
    stop();
    return serially(async () => {
      await Promise.all(destinations.map((one) => one.close()));
    });
  };
  try {
    await load(settings.destinations);
    const readFrom = () => Math.min(...destinations.map(({ progress }) => progress.cursor));
    await alerts.holdFrom(readFrom, settings.outboxRetainBytes, (seq) => {
      for (const one of destinations) one.drop(seq);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    list: () => destinations,
    listDeliveries: (record) => destinations.map((one) => one.describe(record)),
    repeatAfterMs: () => {
      const minutes = destinations.map(({ target }) => target.settings.repeatMinutes ?? defaultRepeatMinutes);
      const shortest = Math.min(...minutes.filter((each) => each > 0));
      return Number.isFinite(shortest) ? shortest * 60_000 : undefined;
    },
    reload: (changed) => inBackground(changed.destinations),
    reopen: async () => {
      await Promise.all(destinations.map((one) => one.reopen()));
    },
    close,
  };
};

const isSame = (one: Target, other: Target): boolean =>
  JSON.stringify([one.settings, one.place.secrets, one.headers]) ===
  JSON.stringify([other.settings, other.place.secrets, other.headers]);

/** Opens destinations. What they need is loaded with the first one. */
const createOpener = (
  { alerts, openLog, store, clock, log }: Parts,
  onDelivered: (destination: Destination) => void,
) => {
  let instance: string | undefined;
  return async (target: Target, stored: number): Promise<Destination> => {
    instance ??= await readInstanceId(openLog);
    const { createSender } = await import('./delivery/sender.ts');
    const { settings, place } = target;
    const { name, concurrency = 1, startAt = 'now' } = settings;
    const progressLog = await openProgressLog(openLog, name, {
      start: startAt === 'oldest' ? 0 : stored,
      stored,
      onReplaced: () =>
        log.warn({ destination: name }, 'outbox: the alert log was replaced; delivery continues at its end'),
      onUnwritten: (err) =>
        log.error(
          { err, destination: name },
          'outbox: the progress could not be written; a restart repeats deliveries',
        ),
    });
    // One connection more, for alerts that an administrator sends again.
    const sender = createSender(place.url, concurrency + 1);
    const accepts = createFilter(settings, instance);
    const notices = createNotices({ instance, store, clock, log });
    const destination: Destination = new Destination(
      {
        ...{ target, instance, accepts, alerts, progressLog, sender, notices, clock, log },
        onDelivered: () => onDelivered(destination),
      },
      stored,
    );
    return destination;
  };
};
