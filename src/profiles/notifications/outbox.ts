import { createSerial } from '../../storage/journal/scheduling.ts';
import type { Snapshot } from '../../storage/snapshot.ts';
import type { AlertSource } from '../alert-source.ts';
import type { Parts } from '../feature.ts';
import { Destination } from './destination.ts';
import { defaultRepeatMinutes } from './new-alerts.ts';
import { createNotices } from './notices.ts';
import { openProgressLog } from './progress-log.ts';
import { createFilter, type DestinationSettings } from './settings.ts';
import { type Target, toTarget } from './target.ts';

interface OutboxSettings {
  destinations: DestinationSettings[];
  outboxRetainBytes: number;
}

type OutboxParts = Pick<Parts, 'openLog' | 'openSnapshot' | 'clock' | 'log'>;

export interface Outbox {
  list(): readonly Destination[];
  /** Takes over changed destinations in the background; those that have not changed try again now. */
  reload(settings: OutboxSettings): void;
  reopen(): Promise<void>;
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
  let destinations: Destination[] = [];
  let { lastSeq: stored } = alerts.state();
  /** What to deliver once the database says how far the log is. */
  let planned: readonly DestinationSettings[] | undefined;
  const hurryOthers = (delivered: Destination): void => {
    for (const one of destinations) {
      if (one !== delivered && one.target.address === delivered.target.address) one.hurry();
    }
  };
  const { open, retire } = createOpener(source, parts, hurryOthers);
  const registry = await openRegistry(parts.openSnapshot('outbox.destinations'));
  const load = async (entries: readonly DestinationSettings[]): Promise<void> => {
    const targets = entries.map(toTarget);
    planned = stored === undefined ? entries : undefined;
    if (stored === undefined) return;
    const isKept = (one: Destination) => targets.some((target) => isSame(target, one.target));
    const kept = destinations.filter(isKept);
    await Promise.all(destinations.filter((one) => !isKept(one)).map((one) => one.close()));
    destinations = kept;
    await registry.update(
      entries.map(({ name }) => name),
      (name) =>
        retire(name, stored ?? 0).catch((err: unknown) => {
          log.warn({ err, destination: name }, 'outbox: the alert about a removed destination may fire on');
          return false;
        }),
    );
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
  source.setDeliverer({
    deliveriesOf: (record) => destinations.map((one) => one.describe(record)),
    repeatAfterMs: () => {
      const minutes = destinations.map(({ target }) => target.settings.repeatMinutes ?? defaultRepeatMinutes);
      const shortest = Math.min(...minutes.filter((each) => each > 0));
      return Number.isFinite(shortest) ? shortest * 60_000 : undefined;
    },
  });
  return {
    list: () => destinations,
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

/**
 * Opens destinations, and ends the alert about one that was removed from the settings; what they need is loaded with the
 * first one.
 */
const createOpener = (
  { own: alerts, readInstance: readName, raise }: AlertSource,
  { openLog, clock, log }: OutboxParts,
  onDelivered: (destination: Destination) => void,
) => {
  let known: string | undefined;
  const readInstance = async (): Promise<string> => {
    known ??= await readName();
    return known;
  };
  const openProgress = (name: string, { start, stored }: { start: number; stored: number }) =>
    openProgressLog(openLog, name, {
      start,
      stored,
      onReplaced: () =>
        log.warn({ destination: name }, 'outbox: the alert log was replaced; delivery continues at its end'),
      onUnwritten: (err) =>
        log.error(
          { err, destination: name },
          'outbox: the progress could not be written; a restart repeats deliveries',
        ),
    });
  const open = async (target: Target, stored: number): Promise<Destination> => {
    const instance = await readInstance();
    const { createSender } = await import('./sender.ts');
    const { settings, place } = target;
    const { name, concurrency = 1, startAt = 'now' } = settings;
    const progressLog = await openProgress(name, { start: startAt === 'oldest' ? 0 : stored, stored });
    // One connection more, for alerts that an administrator sends again.
    const sender = createSender(place.url, concurrency + 1);
    const accepts = createFilter(settings, instance);
    const notices = createNotices({ instance, raise, clock, log });
    const destination: Destination = new Destination(
      {
        ...{ target, instance, accepts, alerts, progressLog, sender, notices, clock, log },
        onDelivered: () => onDelivered(destination),
      },
      stored,
    );
    return destination;
  };
  const retire = async (name: string, stored: number): Promise<boolean> => {
    const notices = createNotices({ instance: await readInstance(), raise, clock, log });
    const { progress, close } = await openProgress(name, { start: stored, stored: Number.POSITIVE_INFINITY });
    const { failing: _, ...receiver } = progress.receiver;
    progress.receiver = await notices.update(name, { receiver });
    await close();
    return !notices.isOutdated(progress.receiver);
  };
  return { open, retire };
};

/** The destinations whose progress is kept, so those that are removed while the server is off are known, too. */
interface Registry {
  /** Takes over the names of the settings. Others are retired, and known until `retire` resolves to true. */
  update(names: readonly string[], retire: (name: string) => Promise<boolean>): Promise<void>;
}

const openRegistry = async (file: Snapshot): Promise<Registry> => {
  let known = parse(await file.read());
  return {
    update: async (names, retire) => {
      const left: string[] = [];
      for (const name of known) if (!names.includes(name) && !(await retire(name))) left.push(name);
      const next = [...names, ...left];
      // A registry that is not written is used until the restart.
      if (next.join() !== known.join()) await file.write(Buffer.from(JSON.stringify(next))).catch(() => undefined);
      known = next;
    },
  };
};

const parse = (bytes: Buffer | undefined): string[] => {
  try {
    const names: unknown = JSON.parse(String(bytes));
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
};
