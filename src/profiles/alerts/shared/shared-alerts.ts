import { KeyRefusal, StoreUnavailable } from '../../../expected-errors.ts';
import { HttpError } from '../../../http/errors.ts';
import { InTurn } from '../../../storage/in-turn.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';
import type { StoredRecord } from '../../../storage/journal/read/lines.ts';
import type { DatabaseLog } from '../../../storage/postgres/database-log.ts';
import type { NewRecord, Placed, RepeatKey } from '../../../storage/postgres/record-collection.ts';
import { RecentKeys, type Remembered } from '../../../storage/recent-keys.ts';
import type { AlertRecord } from '../alert.ts';
import type { LogFollower } from '../firing/follow-log.ts';
import {
  type AlertIntake,
  linkResolution,
  type RepeatParts,
  type Stored,
  splitKey,
  toIdempotencyKey,
} from '../intake/repeats.ts';
import type { Spool } from './spool.ts';

/** Milliseconds after which an alert that is not committed is written to the spool. */
const patienceMs = 1000;

/** An alert with the row that it becomes. */
interface Item {
  record: LogRecord;
  row: NewRecord;
}

interface SharedParts extends RepeatParts {
  follower: LogFollower;
}

interface KnownAlert extends Remembered {
  state: string;
  id: string;
}

/**
 * Stores alerts in the database, or in the spool until they are there. Whether one of the spool repeats another is decided
 * when it is shipped, unless this process has stored an alert with its `Idempotency-Key`.
 */
export class SharedAlerts implements AlertIntake {
  readonly #log: DatabaseLog;
  /** Opened with `ship`, and undefined where alerts must not wait on this machine. */
  spool: Spool | undefined;
  readonly #parts: SharedParts;
  /** By the hash of an `Idempotency-Key`. */
  readonly #recent: RecentKeys<KnownAlert>;
  readonly #inTurn = new InTurn();

  constructor(log: DatabaseLog, parts: SharedParts) {
    this.#log = log;
    this.#parts = parts;
    this.#recent = new RecentKeys(parts.clock);
  }

  async append(record: AlertRecord): Promise<{ id: string }> {
    const [linked = record] = await this.#link([record]);
    const [{ id } = { id: '' }] = await this.#take([this.#toItem(linked)]);
    return { id };
  }

  async store(records: readonly AlertRecord[]): Promise<Stored> {
    const { firing, repeatAfterMs } = this.#parts;
    const linked = await this.#link(records);
    const placed = await this.#take(
      linked.map((record) => {
        const { hash, state } = splitKey(record.key);
        if (hash === '') return this.#toItem(record);
        const canRemind = record.status === 'firing' && !firing.isResolved(record);
        return this.#toItem(record, {
          hash,
          state,
          isOnce: false,
          remindAfterMs: canRemind ? repeatAfterMs() : undefined,
        });
      }),
    );
    const fresh = records.filter((_, index) => placed[index]?.isRepeat === false);
    return { ids: placed.map(({ id }) => id), repeated: records.length - fresh.length, fresh };
  }

  async storeOnce(record: AlertRecord, idempotencyKey: string): Promise<{ id: string; isRepeat: boolean }> {
    const key = { ...toIdempotencyKey(record, idempotencyKey), isOnce: true };
    // The spool does not know what others store, and the database knows the order without this.
    return this.#inTurn.run([key.hash], () => this.#storeOnce(record, key));
  }

  async #storeOnce(unlinked: AlertRecord, key: RepeatKey): Promise<{ id: string; isRepeat: boolean }> {
    try {
      const [record = unlinked] = await this.#link([unlinked]);
      const [{ id, isRepeat } = { id: '', isRepeat: false }] = await this.#take([this.#toItem(record, key)]);
      this.#remember(key, id);
      return { id, isRepeat };
    } catch (error) {
      if (!(error instanceof KeyRefusal)) throw error;
      throw new HttpError('unprocessable', 'This Idempotency-Key was used for another alert');
    }
  }

  /** Stores lines of the spool. Resolves when they are committed. */
  async ship(lines: readonly StoredRecord[]): Promise<void> {
    const rows = lines.map(({ of, record, key }) => ({
      ...this.#log.toNew(record as LogRecord, key as RepeatKey | undefined),
      id: of as string,
    }));
    const placed = await this.#log.add(rows, true);
    // Another instance may have stored the first one.
    for (const [index, { key }] of rows.entries()) if (key?.isOnce) this.#remember(key, placed[index]?.id ?? '');
  }

  /** Resolved alerts name the ones that they end, which another instance may have stored just now. */
  async #link(records: readonly AlertRecord[]): Promise<AlertRecord[]> {
    const { firing, follower } = this.#parts;
    const canRead = this.#log.state().healthy && this.spool?.isUsed !== true;
    if (canRead && records.some(({ status }) => status === 'resolved')) await withPatience(follower.catchUp());
    return records.map((record) => linkResolution(record, firing));
  }

  #remember({ hash, state }: RepeatKey, id: string): void {
    this.#recent.remember(hash, { state, id, storedAt: this.#parts.clock().getTime() });
  }

  /** What this process has stored with the item's `Idempotency-Key`; throws a KeyRefusal if that was another alert. */
  #findFirst({ row: { key } }: Item): Placed | undefined {
    const known = key?.isOnce ? this.#recent.find(key.hash) : undefined;
    if (!known) return undefined;
    if (known.state !== key?.state) throw new KeyRefusal();
    return { id: known.id, seq: undefined, isRepeat: true };
  }

  #toItem(record: LogRecord, key?: RepeatKey): Item {
    return { record, row: this.#log.toNew(record, key) };
  }

  async #take(items: readonly Item[]): Promise<Placed[]> {
    await this.spool?.hold;
    const { spool } = this;
    const rows = items.map(({ row }) => row);
    if (!spool) return this.#log.add(rows);
    const isUnavailable = spool.isUsed || !this.#log.state().healthy;
    const placed = isUnavailable ? undefined : await this.#attempt(rows);
    if (placed) return placed;
    const [item, ...others] = items;
    const first = item && others.length === 0 ? this.#findFirst(item) : undefined;
    if (first) return [first];
    await spool.add(items.map(({ record, row: { id, key } }) => ({ record, of: id, ...(key && { key }) })));
    return rows.map(({ id }) => ({ id, seq: undefined, isRepeat: false }));
  }

  /** Undefined if the rows are not committed yet; that may still happen. */
  async #attempt(rows: readonly NewRecord[]): Promise<Placed[] | undefined> {
    return withPatience(this.#log.add(rows).catch(passIfUnavailable));
  }
}

/** What the promise resolves to; undefined if that takes too long. */
const withPatience = <T>(promise: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined);
  });
  return Promise.race([promise, patience]).finally(() => clearTimeout(timer));
};

const passIfUnavailable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error;
};
