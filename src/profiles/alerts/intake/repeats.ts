import { hash as digest } from 'node:crypto';
import { HttpError } from '../../../http/errors.ts';
import { InTurn } from '../../../storage/in-turn.ts';
import { JournalError } from '../../../storage/journal/errors.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';
import type { Listing } from '../../../storage/journal/read/listing.ts';
import { RecentKeys, type Remembered, rememberedCount } from '../../../storage/recent-keys.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { AlertRecord } from '../alert.ts';
import { type FiringAlerts, type FoldedRecord, toSeriesKey } from '../firing/firing-alerts.ts';

/** The ids of a body's alerts in their order, and how many of them had been stored before. */
export interface Stored {
  ids: string[];
  repeated: number;
  /** The records that were stored now. */
  fresh: readonly AlertRecord[];
}

interface RepeatState {
  hash: string;
  state: string;
}

interface RememberedAlert extends Remembered {
  state: string;
  id: string;
  /** When it was last stored again, as a reminder: Unix milliseconds. */
  remindedAt?: number;
}

/** Where an alert's id comes from: it was stored before, or it is one of those that are stored now. */
interface Place {
  state: string;
  id?: string;
  index?: number;
  /** The first of the series, if this is a reminder. */
  first?: RememberedAlert;
}

/** Stores alerts. Rejects with a JournalError, or with StoreUnavailable. */
export interface AlertIntake {
  append(record: AlertRecord): Promise<{ id: string }>;
  /** Stores the records that are no repeats, all or none. */
  store(records: readonly AlertRecord[]): Promise<Stored>;
  /**
   * Stores the record of a request with an `Idempotency-Key`, or finds the one that was stored with the same key. Throws a 422
   * if that was another alert.
   */
  storeOnce(record: AlertRecord, idempotencyKey: string): Promise<{ id: string; isRepeat: boolean }>;
}

/** What decides how alerts are stored. */
export interface RepeatParts {
  clock: () => Date;
  firing: FiringAlerts;
  /** Milliseconds after which a repeat is stored again, to remind of the first; undefined if nobody wants that. */
  repeatAfterMs(): number | undefined;
}

/**
 * Stores alerts, and those that come again only once. A record's `key` is `HASH:STATE`: it is a repeat if the last record
 * with its hash, within 24 hours, had the same state.
 */
export class Repeats implements AlertIntake {
  readonly #journal: RecordLog;
  readonly #parts: RepeatParts;
  /** By hash. */
  readonly #recent: RecentKeys<RememberedAlert>;
  readonly #inTurn = new InTurn();
  readonly #loading: Promise<void>;
  /** What was stored before the end of the log was read. */
  #stored: (FoldedRecord & { seq: number })[] | undefined = [];
  #isClosed = false;

  /** `report` gets the error if the log's tail cannot be read: what it holds may then be stored again. */
  constructor(journal: RecordLog, parts: RepeatParts, report: (error: unknown) => void) {
    this.#journal = journal;
    this.#parts = parts;
    this.#recent = new RecentKeys(parts.clock);
    this.#loading = this.#load().catch(report);
  }

  async append(record: AlertRecord): Promise<{ id: string }> {
    const key = toSeriesKey(record);
    const ids =
      key === undefined ? await this.#write([record]) : await this.#whenFree([key], () => this.#write([record]));
    return { id: ids[0] ?? '' };
  }

  store(records: readonly AlertRecord[]): Promise<Stored> {
    const keys = records.map(({ key }) => splitKey(key));
    const names = records.map((record) => toSeriesKey(record) ?? '');
    return this.#whenFree([...keys.map(({ hash }) => hash), ...names], async () => {
      const fresh: AlertRecord[] = [];
      const written: AlertRecord[] = [];
      const own = new Map<string, Place>();
      const places = records.map((record, position): Place => {
        const { hash = '', state = '' } = keys[position] ?? {};
        const before = own.get(hash) ?? this.#recent.find(hash);
        if (before?.state === state) {
          const first = own.has(hash) ? undefined : this.#findDue(hash, record);
          if (first) {
            own.set(hash, { state, id: first.id, index: written.push({ ...record, repeatOf: first.id }) - 1, first });
          }
          return before;
        }
        fresh.push(record);
        const place = { state, index: written.push(record) - 1 };
        if (hash !== '') own.set(hash, place);
        return place;
      });
      const ids = written.length === 0 ? [] : await this.#write(written, own);
      return {
        ids: places.map(({ id, index = 0 }) => id ?? ids[index] ?? ''),
        repeated: records.length - fresh.length,
        fresh,
      };
    });
  }

  storeOnce(record: AlertRecord, idempotencyKey: string): Promise<{ id: string; isRepeat: boolean }> {
    const { hash, state } = toIdempotencyKey(record, idempotencyKey);
    return this.#whenFree([hash, toSeriesKey(record) ?? ''], async () => {
      const before = this.#recent.find(hash);
      if (before?.state === state) return { id: before.id, isRepeat: true };
      if (before) throw new HttpError('unprocessable', 'This Idempotency-Key was used for another alert');
      const own = new Map([[hash, { state, index: 0 }]]);
      const [id = ''] = await this.#write([{ ...record, key: hash, bodyHash: state }], own);
      return { id, isRepeat: false };
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loading;
  }

  /** Runs the step once no other request stores these; empty texts stand for none. */
  async #whenFree<T>(keys: readonly string[], step: () => Promise<T>): Promise<T> {
    const own = new Set(keys);
    own.delete('');
    if (own.size === 0) return step();
    await this.#loading;
    return this.#inTurn.run([...own], step);
  }

  /** The first of the series that a repeat with this hash belongs to, if it is time to remind of it. */
  #findDue(hash: string, record: AlertRecord): RememberedAlert | undefined {
    const first = this.#recent.find(hash);
    const { clock, firing, repeatAfterMs } = this.#parts;
    const after = repeatAfterMs();
    if (!first || after === undefined || record.status !== 'firing' || firing.isResolved(record)) return undefined;
    return clock().getTime() - (first.remindedAt ?? first.storedAt) >= after ? first : undefined;
  }

  async #write(records: readonly AlertRecord[], own?: ReadonlyMap<string, Place>): Promise<string[]> {
    const { firing, clock } = this.#parts;
    const linked = records.map((record) => linkResolution(record, firing));
    const [only] = linked;
    const appended = only && !own ? [await this.#journal.append(only)] : await this.#journal.appendAll(linked);
    for (const [index, { id, seq }] of appended.entries()) this.#note(linked[index] as AlertRecord, id, seq);
    const ids = appended.map(({ id }) => id);
    const now = clock().getTime();
    for (const [hash, { state, index = 0, first }] of own ?? []) {
      const value = first ? { ...first, remindedAt: now } : { state, id: ids[index] ?? '', storedAt: now };
      this.#recent.remember(hash, value);
    }
    return ids;
  }

  #note(record: AlertRecord, id: string, seq: number): void {
    if (this.#stored) this.#stored.push({ ...record, id, seq });
    else this.#parts.firing.add(record, id);
  }

  /** Learns what the last records of the log say. */
  async #load(): Promise<void> {
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
          this.#parts.firing.add(record);
        }
      } finally {
        await listing.close();
      }
    } finally {
      const stored = this.#stored ?? [];
      this.#stored = undefined;
      for (const record of stored) if (record.seq > lastSeq) this.#parts.firing.add(record);
    }
  }

  #remember({ id, time, key, bodyHash, repeatOf }: LogRecord): void {
    const { hash, state } = splitKey(typeof key === 'string' ? key : '');
    const storedAt = Date.parse(String(time));
    if (hash === '' || !this.#recent.isRecent(storedAt)) return;
    if (typeof repeatOf === 'string') {
      const first = this.#recent.find(hash) ?? { state, id: repeatOf, storedAt };
      this.#recent.remember(hash, { ...first, remindedAt: storedAt });
      return;
    }
    this.#recent.remember(hash, { state: typeof bodyHash === 'string' ? bodyHash : state, id: String(id), storedAt });
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

/** A record that says that an alert has ended names that alert and its level, if it is known. */
export const linkResolution = (record: AlertRecord, firing: FiringAlerts): AlertRecord => {
  const ended = record.status === 'resolved' ? firing.findFiring(record) : undefined;
  return ended ? { ...record, resolves: ended.id, firingLevel: ended.level } : record;
};

/** A short text that is the same for the same parts. */
export const hashParts = (...parts: (string | undefined)[]): string =>
  digest('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);

/** By what a sender's request with this `Idempotency-Key` is recognized, and what it must have in common with the first. */
export const toIdempotencyKey = (
  { sender, source, level, message, hostname, fingerprint, status, labels, link }: AlertRecord,
  key: string,
): RepeatState => ({
  hash: hashParts('Idempotency-Key', sender, key),
  state: hashParts(source, level, message, hostname, fingerprint, status, labels && JSON.stringify(labels), link),
});

/** The parts of a record's `key`, both empty if it has none. */
export const splitKey = (key = ''): RepeatState => {
  const [hash = '', state = ''] = key.split(':', 2);
  return { hash, state };
};
