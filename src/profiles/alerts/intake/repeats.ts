import { createHash } from 'node:crypto';
import type { Journal } from '../../../storage/journal/journal.ts';
import type { AlertRecord } from '../alert.ts';
import type { ForeignAlert } from './format.ts';

/** How long an alert is remembered, and how many are. */
const rememberedMs = 24 * 60 * 60 * 1000;
const rememberedCount = 100_000;

/** How much of the log's tail is read to remember the alerts that were stored before a restart. */
const tailBytes = 256 * 1024 * 1024;

/** A short text that is the same for the same parts. */
export const hashParts = (...parts: (string | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);

/**
 * The key of an alert's repeats, `HASH:STATE`: an alert is a repeat if the last one with its hash had the same state. The
 * start of an alert belongs to its hash. Senders that give none may fire again after they have resolved, so there the
 * status is the state.
 */
export const toRepeatKey = (format: string, { fingerprint, status, state = status, startsAt }: ForeignAlert): string =>
  startsAt === undefined
    ? `${hashParts(format, fingerprint)}:${state}`
    : `${hashParts(format, fingerprint, state, startsAt)}:`;

/** The ids of a body's alerts in their order, and how many of them were stored before. */
export interface Stored {
  ids: string[];
  repeated: number;
}

interface Remembered {
  state: string;
  id: string;
  /** Milliseconds since 1970. */
  storedAt: number;
}

/** A record's place among the ids: that of an earlier record, or one that is still to be stored. */
interface Place {
  state: string;
  id?: string;
  index?: number;
}

/** Stores alerts, each of them once: repeats within 24 hours get the first one's id. */
export class Repeats {
  readonly #journal: Journal;
  readonly #clock: () => Date;
  readonly #known = new Map<string, Remembered>();
  /** Hashes that another request is storing. */
  readonly #pending = new Map<string, Promise<unknown>>();
  #loading: Promise<void> | undefined;

  constructor(journal: Journal, clock: () => Date) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Stores the records that are no repeats, all or none. Rejects with a JournalError. */
  async store(records: readonly AlertRecord[]): Promise<Stored> {
    const hashes = records.flatMap(({ key }) => (key === undefined ? [] : [split(key).hash]));
    if (hashes.length > 0) await this.#waitFor(hashes);
    const fresh: AlertRecord[] = [];
    const own = new Map<string, Place>();
    const places = records.map((record): Place => {
      const { hash, state } = split(record.key ?? '');
      const before = own.get(hash) ?? this.#find(hash);
      if (before?.state === state && hash !== '') return before;
      const place = { state, index: fresh.push(record) - 1 };
      if (hash !== '') own.set(hash, place);
      return place;
    });
    const ids = await this.#append(fresh, [...own.keys()]);
    for (const [hash, { state, index = 0 }] of own) this.#remember(hash, state, ids[index] ?? '');
    return {
      ids: places.map(({ id, index = 0 }) => id ?? ids[index] ?? ''),
      repeated: places.length - fresh.length,
    };
  }

  /** Waits for requests that store alerts with the same hashes: only then is known which of them are repeats. */
  async #waitFor(hashes: readonly string[]): Promise<void> {
    this.#loading ??= this.#load();
    await this.#loading;
    for (;;) {
      const busy = hashes.flatMap((hash) => this.#pending.get(hash) ?? []);
      if (busy.length === 0) return;
      await Promise.allSettled(busy);
    }
  }
