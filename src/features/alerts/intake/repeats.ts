import { isAboutSomething, readTime } from '../../../kit/alert-record.ts';
import { rankOf, toSeverity } from '../../../kit/severity.ts';
import { KeyRefusal } from '../../../lib/expected-errors.ts';
import { InTurn } from '../../../lib/scheduling.ts';
import { JournalError } from '../../../storage/journal/errors.ts';
import { createId, type LogRecord, type StoredRecord } from '../../../storage/journal/line.ts';
import type { Listing } from '../../../storage/journal/read/listing.ts';
import { RecentKeys, type Remembered, rememberedCount } from '../../../storage/recent-keys.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { AlertRecord } from '../alert.ts';
import { type FiringAlert, type FiringAlerts, toSeriesKey } from '../firing.ts';
import { hashParts } from './format.ts';

/** The ids of a body's alerts in their order, and how many of them had been stored before. */
export interface Stored {
  ids: string[];
  repeated: number;
  /** The records that were stored now. */
  fresh: readonly AlertRecord[];
}

/** What makes an alert a repeat: the last one with its hash, within 24 hours, had the same state. */
interface RepeatKey {
  hash: string;
  state: string;
  /** It comes from an `Idempotency-Key`: an alert with another state is refused. */
  isOnce: boolean;
}

export interface KeyedAlert {
  record: AlertRecord;
  key?: RepeatKey | undefined;
}

/** An alert's own id, or that of the one it repeats. */
interface PlacedAlert {
  id: string;
  isRepeat: boolean;
}

/** The first alert with a key. */
interface KnownAlert extends Remembered {
  state: string;
  id: string;
  /** When it was last stored again, as a reminder: Unix milliseconds. */
  remindedAt?: number;
}

/** What decides how alerts are stored. */
export interface RepeatParts {
  clock: () => Date;
  firing: FiringAlerts;
  /** Milliseconds after which a repeat is stored again, to remind of the first; undefined if nobody wants that. */
  repeatAfterMs(): number | undefined;
  /** Gets each alert that comes in, before it is known whether it is a repeat. */
  hear?: ((record: AlertRecord) => void) | undefined;
}

/** Stores alerts, and those that come again only once. Rejects with a JournalError, a KeyRefusal, or StoreUnavailable. */
export abstract class AlertIntake {
  protected readonly parts: RepeatParts;
  /** By hash. */
  protected readonly recent: RecentKeys<KnownAlert>;
  protected readonly inTurn = new InTurn();

  constructor(parts: RepeatParts) {
    this.parts = parts;
    this.recent = new RecentKeys(parts.clock);
  }

  /** Stores the alerts that are no repeats, all or none. */
  protected abstract place(alerts: readonly KeyedAlert[]): Promise<PlacedAlert[]>;

  /** Stores an alert, whatever was stored before. */
  async append(record: AlertRecord): Promise<PlacedAlert> {
    this.parts.hear?.(record);
    const [placed] = await this.place([{ record }]);
    return placed as PlacedAlert;
  }

  /** Stores the records that are no repeats by their `key`, all or none. */
  async store(records: readonly AlertRecord[]): Promise<Stored> {
    for (const record of records) this.parts.hear?.(record);
    const placed = await this.place(records.map((record) => ({ record, key: parseKey(record.key) })));
    const fresh = records.filter((_, index) => placed[index]?.isRepeat === false);
    return { ids: placed.map(({ id }) => id), repeated: records.length - fresh.length, fresh };
  }

  /** Stores the record of a request with an `Idempotency-Key`, or finds the one that was stored with the same key. */
  async storeOnce(record: AlertRecord, idempotencyKey: string): Promise<PlacedAlert> {
    this.parts.hear?.(record);
    const key = { ...toIdempotencyKey(record, idempotencyKey), isOnce: true };
    const [placed] = await this.place([{ record, key }]);
    return placed as PlacedAlert;
  }

  /** The alert that one with this key repeats, if it is still known. */
  protected findFirst({ hash, state, isOnce }: RepeatKey): KnownAlert | undefined {
    const known = this.recent.find(hash);
    if (known?.state === state) return known;
    if (known && isOnce) throw new KeyRefusal();
    return undefined;
  }

  /**
   * A record that says that an alert has ended names that alert, its level and since when it fired, if that is known; the alert
   * may be in the same body. `ids` are those that the records get.
   */
  protected link(records: readonly AlertRecord[], ids: readonly string[]): AlertRecord[] {
    /** The worst alert of each series that fires in this body. */
    const firing = new Map<string, FiringAlert>();
    const ended = new Set<string>();
    return records.map((record, index) => {
      const key = toSeriesKey(record);
      if (key === undefined) return record;
      const known = firing.get(key) ?? this.parts.firing.findFiring(record);
      if (record.status === 'resolved') {
        ended.add(key);
        if (!known) return record;
        const { id: resolves, level: firingLevel, since } = known;
        return { ...record, resolves, firingLevel, firingSince: new Date(since).toISOString() };
      }
      const { level } = record;
      const id = ids[index] ?? '';
      if (!known || known.isResolved || ended.delete(key)) {
        firing.set(key, { id, level, since: readTime(record) ?? this.parts.clock().getTime(), isResolved: false });
      } else if (rankOf(toSeverity(level)) <= rankOf(toSeverity(known.level))) {
        firing.set(key, { id, level, since: known.since, isResolved: false });
      }
      return record;
    });
  }

  /** Milliseconds after which a repeat of this alert is stored again as a reminder, if it ever is. */
  protected remindAfterMs({ record, key }: KeyedAlert): number | undefined {
    const { firing, repeatAfterMs } = this.parts;
    if (key?.isOnce || record.status !== 'firing') return undefined;
    const after = repeatAfterMs();
    return after === undefined || firing.isResolved(record) ? undefined : after;
  }
}

/** What is stored under a hash: the id of the first alert, or the place of a new one among those that are written. */
interface Place {
  state: string;
  index: number;
  /** The first of the series, if this is a reminder. */
  first?: KnownAlert;
}

/** Stores alerts in files of this machine. The keys of its last alerts are in memory, and read from the log on startup. */
export class LocalAlerts extends AlertIntake {
  readonly #journal: RecordLog;
  readonly #loading: Promise<void>;
  /** What was stored before the end of the log was read; undefined from then on. */
  #stored: StoredRecord[] | undefined = [];
  #isClosed = false;

  /** `report` gets the error if the log's tail cannot be read: what it holds may then be stored again. */
  constructor(journal: RecordLog, parts: RepeatParts, report: (error: unknown) => void) {
    super(parts);
    this.#journal = journal;
    this.#loading = this.#load().catch(report);
  }

  override async append(record: AlertRecord): Promise<PlacedAlert> {
    if (isAboutSomething(record)) return super.append(record);
    this.parts.hear?.(record);
    // An alert without a series has nothing to wait for.
    const { id, seq } = await this.#journal.append(record);
    this.#note(record, id, seq);
    return { id, isRepeat: false };
  }

  /** Resolves when the end of the log was read. */
  whenRead(): Promise<void> {
    return this.#loading;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loading;
  }

  /** Waits for other requests that store alerts of the same series, or with the same keys. */
  protected place(alerts: readonly KeyedAlert[]): Promise<PlacedAlert[]> {
    const names = listNames(alerts);
    if (names.size === 0) return this.#placeNow(alerts);
    const step = () => this.inTurn.run([...names], () => this.#placeNow(alerts));
    return this.#stored ? this.#loading.then(step) : step();
  }

  async #placeNow(alerts: readonly KeyedAlert[]): Promise<PlacedAlert[]> {
    const records: AlertRecord[] = [];
    /** The keys of these records. */
    const places = new Map<string, Place>();
    const found = alerts.map((alert): { id?: string | undefined; index?: number; isRepeat: boolean } => {
      const { record, key } = alert;
      if (!key) return { index: records.push(record) - 1, isRepeat: false };
      const { hash, state } = key;
      const place = places.get(hash);
      if (place?.state === state) return { ...place, id: place.first?.id, isRepeat: true };
      const first = place ? undefined : this.findFirst(key);
      if (!first) {
        const index = records.push(key.isOnce ? { ...record, key: hash, bodyHash: state } : record) - 1;
        places.set(hash, { state, index });
        return { index, isRepeat: false };
      }
      if (this.#isDue(alert, first)) {
        places.set(hash, { state, index: records.push({ ...record, repeatOf: first.id }) - 1, first });
      }
      return { id: first.id, isRepeat: true };
    });
    const ids = await this.#write(records);
    const storedAt = this.parts.clock().getTime();
    for (const [hash, { state, index, first }] of places) {
      this.recent.remember(
        hash,
        first ? { ...first, remindedAt: storedAt } : { state, id: ids[index] ?? '', storedAt },
      );
    }
    return found.map(({ id, index = 0, isRepeat }) => ({ id: id ?? ids[index] ?? '', isRepeat }));
  }

  /** Whether it is time to remind of the first alert of a series, which this one repeats. */
  #isDue(alert: KeyedAlert, { storedAt, remindedAt = storedAt }: KnownAlert): boolean {
    const after = this.remindAfterMs(alert);
    return after !== undefined && this.parts.clock().getTime() - remindedAt >= after;
  }

  async #write(records: readonly AlertRecord[]): Promise<string[]> {
    const ids = records.map(() => createId());
    const linked = this.link(records, ids);
    const appended = await this.#journal.appendAll(linked, ids);
    for (const [index, { id, seq }] of appended.entries()) this.#note(linked[index] as AlertRecord, id, seq);
    return appended.map(({ id }) => id);
  }

  #note(record: AlertRecord, id: string, seq: number): void {
    if (this.#stored) this.#stored.push({ ...record, id, seq });
    else this.parts.firing.add(record, id);
  }

  /** Learns what the last records of the log say. */
  async #load(): Promise<void> {
    const { firing } = this.parts;
    let lastSeq = 0;
    try {
      const listing = await this.#openTail(rememberedCount);
      try {
        for await (const record of listing.records()) {
          if (this.#isClosed) return;
          this.#remember(record);
          // A line by hand has no seq; search does not find it, either.
          if (typeof record['seq'] !== 'number') continue;
          lastSeq = record['seq'];
          firing.add(record);
        }
      } finally {
        await listing.close();
      }
    } finally {
      const stored = this.#stored ?? [];
      this.#stored = undefined;
      for (const record of stored) if (record.seq > lastSeq) firing.add(record);
    }
  }

  #remember({ id, time, key, bodyHash, repeatOf }: LogRecord): void {
    const { hash, state } = splitKey(typeof key === 'string' ? key : '');
    const storedAt = Date.parse(String(time));
    if (hash === '' || !this.recent.isRecent(storedAt)) return;
    if (typeof repeatOf === 'string') {
      const first = this.recent.find(hash) ?? { state, id: repeatOf, storedAt };
      this.recent.remember(hash, { ...first, remindedAt: storedAt });
      return;
    }
    this.recent.remember(hash, { state: typeof bodyHash === 'string' ? bodyHash : state, id: String(id), storedAt });
  }

  /** The last `count` records, or fewer if those take up more of the log than one listing may read. */
  async #openTail(count: number): Promise<Listing> {
    try {
      return await this.#journal.listLast(count);
    } catch (error) {
      if (!(error instanceof JournalError) || error.code !== 'window-too-large') throw error;
      return this.#openTail(Math.floor(count / 4));
    }
  }
}

/** The series of the alerts, and their keys where those are not of one series. */
const listNames = (alerts: readonly KeyedAlert[]): Set<string> => {
  const names = new Set<string>();
  for (const { record, key } of alerts) {
    const series = toSeriesKey(record);
    if (series !== undefined) names.add(series);
    if (key && (key.isOnce || series === undefined)) names.add(key.hash);
  }
  return names;
};

/** By what a sender's request with this `Idempotency-Key` is recognized, and what it must have in common with the first. */
const toIdempotencyKey = (
  { sender, source, level, message, hostname, fingerprint, status, labels, link }: AlertRecord,
  key: string,
) => ({
  hash: hashParts('Idempotency-Key', sender, key),
  state: hashParts(source, level, message, hostname, fingerprint, status, labels && JSON.stringify(labels), link),
});

/** The parts of a record's `key`, which is `HASH:STATE`; both are empty if it has none. */
export const splitKey = (key = ''): { hash: string; state: string } => {
  const end = key.indexOf(':');
  return end < 0 ? { hash: key, state: '' } : { hash: key.slice(0, end), state: key.slice(end + 1) };
};

const parseKey = (text: string | undefined): RepeatKey | undefined => {
  const { hash, state } = splitKey(text);
  return hash === '' ? undefined : { hash, state, isOnce: false };
};
