import { createHash } from 'node:crypto';
import { HttpError } from '../../../http/response/errors.ts';
import { JournalError } from '../../../storage/journal/errors.ts';
import type { Listing } from '../../../storage/journal/read/listing.ts';
import { RecentKeys, type Remembered, rememberedCount } from '../../../storage/recent-keys.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { AlertRecord } from '../alert.ts';

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
}

/** Where an alert's id comes from: it was stored before, or it is one of those that are stored now. */
interface Place {
  state: string;
  id?: string;
  index?: number;
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

/**
 * Stores alerts, and those that come again only once. A record's `key` is `HASH:STATE`: it is a repeat if the last record
 * with its hash, within 24 hours, had the same state.
 */
export class Repeats implements AlertIntake {
  readonly #journal: RecordLog;
  readonly #clock: () => Date;
  readonly #report: (error: unknown) => void;
  /** By hash. */
  readonly #recent: RecentKeys<RememberedAlert>;
  /** Hashes that a request is storing, with promises that never reject. */
  readonly #pending = new Map<string, Promise<unknown>>();
  #loading: Promise<void> | undefined;

  /** `report` gets the error if the log's tail cannot be read: what it holds may then be stored again. */
  constructor(journal: RecordLog, clock: () => Date, report: (error: unknown) => void) {
    this.#journal = journal;
    this.#clock = clock;
    this.#recent = new RecentKeys(clock);
    this.#report = report;
  }

  append(record: AlertRecord): Promise<{ id: string }> {
    return this.#journal.append(record);
  }

  store(records: readonly AlertRecord[]): Promise<Stored> {
    const keys = records.map(({ key }) => splitKey(key));
    return this.#whenFree(keys, async () => {
      const fresh: AlertRecord[] = [];
      const own = new Map<string, Place>();
      const places = records.map((record, position): Place => {
        const { hash = '', state = '' } = keys[position] ?? {};
        const before = own.get(hash) ?? this.#recent.find(hash);
        if (before?.state === state) return before;
        const place = { state, index: fresh.push(record) - 1 };
        if (hash !== '') own.set(hash, place);
        return place;
      });
      const ids = fresh.length === 0 ? [] : await this.#append(fresh, own);
      return {
        ids: places.map(({ id, index = 0 }) => id ?? ids[index] ?? ''),
        repeated: records.length - fresh.length,
        fresh,
      };
    });
  }

  storeOnce(record: AlertRecord, idempotencyKey: string): Promise<{ id: string; isRepeat: boolean }> {
    const { hash, state } = toIdempotencyKey(record, idempotencyKey);
    return this.#whenFree([{ hash }], async () => {
      const before = this.#recent.find(hash);
      if (before?.state === state) return { id: before.id, isRepeat: true };
      if (before) throw new HttpError('unprocessable', 'This Idempotency-Key was used for another alert');
      const own = new Map([[hash, { state, index: 0 }]]);
      const [id = ''] = await this.#append([{ ...record, key: hash, bodyHash: state }], own);
      return { id, isRepeat: false };
    });
  }

  /** Runs the step once no other request stores these hashes; the step must not wait before it appends. */
  async #whenFree<T>(keys: readonly { hash: string }[], step: () => Promise<T>): Promise<T> {
    if (keys.some(({ hash }) => hash !== '')) {
      this.#loading ??= this.#load().catch(this.#report);
      await this.#loading;
    }
    for (;;) {
      const busy = keys.flatMap(({ hash }) => this.#pending.get(hash) ?? []);
      if (busy.length === 0) return step();
      await Promise.all(busy);
    }
  }

  async #append(records: readonly AlertRecord[], own: ReadonlyMap<string, Place>): Promise<string[]> {
    const appended = this.#journal.appendAll(records);
    const settled = appended.catch(() => undefined);
    for (const hash of own.keys()) this.#pending.set(hash, settled);
    try {
      const ids = (await appended).map(({ id }) => id);
      const storedAt = this.#clock().getTime();
      for (const [hash, { state, index = 0 }] of own) {
        this.#recent.remember(hash, { state, id: ids[index] ?? '', storedAt });
      }
      return ids;
    } finally {
      for (const hash of own.keys()) this.#pending.delete(hash);
    }
  }

  /** Remembers what the last records of the log say. */
  async #load(): Promise<void> {
    const listing = await this.#openTail(rememberedCount);
    try {
      for await (const { id, time, key, bodyHash } of listing.records()) {
        const { hash, state } = splitKey(typeof key === 'string' ? key : '');
        const storedAt = Date.parse(String(time));
        if (hash === '' || !this.#recent.isRecent(storedAt)) continue;
        this.#recent.remember(hash, {
          state: typeof bodyHash === 'string' ? bodyHash : state,
          id: String(id),
          storedAt,
        });
      }
    } finally {
      await listing.close();
    }
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

/** A short text that is the same for the same parts. */
export const hashParts = (...parts: (string | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);

/** By what a request with this `Idempotency-Key` is recognized, and what it must have in common with the first. */
export const toIdempotencyKey = ({ source, level, message, hostname }: AlertRecord, key: string): RepeatState => ({
  hash: hashParts('Idempotency-Key', key),
  state: hashParts(source, level, message, hostname),
});

/** The parts of a record's `key`, both empty if it has none. */
export const splitKey = (key = ''): RepeatState => {
  const [hash = '', state = ''] = key.split(':', 2);
  return { hash, state };
};
