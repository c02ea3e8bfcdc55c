import { HttpError } from '../../../http/response/errors.ts';
import type { LogRecord } from '../../../storage/journal/format/line.ts';
import type { StoredRecord } from '../../../storage/journal/read/forward.ts';
import type { DatabaseLog } from '../../../storage/postgres/records/database-log.ts';
import type { NewRecord, Placed, RepeatKey } from '../../../storage/postgres/records/record-collection.ts';
import { KeyRefusal, StoreUnavailable } from '../../../storage/store-errors.ts';
import type { AlertRecord } from '../alert.ts';
import { type AlertIntake, type Stored, splitKey, toIdempotencyKey } from '../intake/repeats.ts';
import type { Spool } from './spool.ts';

/** Milliseconds after which an alert that is not committed is written to the spool. */
const patienceMs = 1000;

/** An alert with the row that it becomes. */
interface Item {
  record: LogRecord;
  row: NewRecord;
}

/**
 * Stores alerts in the database, or in the spool until they are there. Whether one of the spool repeats another is decided
 * when it is shipped.
 */
export class SharedAlerts implements AlertIntake {
  readonly #log: DatabaseLog;
  /** Opened with `ship`, and undefined where alerts must not wait on this machine. */
  spool: Spool | undefined;

  constructor(log: DatabaseLog) {
    this.#log = log;
  }

  async append(record: AlertRecord): Promise<{ id: string }> {
    const [{ id } = { id: '' }] = await this.#take([this.#toItem(record)]);
    return { id };
  }

  async store(records: readonly AlertRecord[]): Promise<Stored> {
    const placed = await this.#take(
      records.map((record) => {
        const { hash, state } = splitKey(record.key);
        return this.#toItem(record, hash === '' ? undefined : { hash, state, isOnce: false });
      }),
    );
    const fresh = records.filter((_, index) => placed[index]?.isRepeat === false);
    return { ids: placed.map(({ id }) => id), repeated: records.length - fresh.length, fresh };
  }

  async storeOnce(record: AlertRecord, idempotencyKey: string): Promise<{ id: string; isRepeat: boolean }> {
    const key = { ...toIdempotencyKey(record, idempotencyKey), isOnce: true };
    try {
      const [{ id, isRepeat } = { id: '', isRepeat: false }] = await this.#take([this.#toItem(record, key)]);
      return { id, isRepeat };
    } catch (error) {
      if (!(error instanceof KeyRefusal)) throw error;
      throw new HttpError('unprocessable', 'This Idempotency-Key was used for another alert');
    }
  }

  /** Stores lines of the spool. Resolves when they are committed. */
  ship(lines: readonly StoredRecord[]): Promise<unknown> {
    return this.#log.add(
      lines.map(({ of, record, key }) => ({
        ...this.#log.toNew(record as LogRecord, key as RepeatKey | undefined),
        id: of as string,
      })),
      true,
    );
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
    await spool.add(items.map(({ record, row: { id, key } }) => ({ record, of: id, ...(key && { key }) })));
    return rows.map(({ id }) => ({ id, seq: undefined, isRepeat: false }));
  }

  /** Undefined if the rows are not committed yet; that may still happen. */
  async #attempt(rows: readonly NewRecord[]): Promise<Placed[] | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, patienceMs, undefined);
    });
    const storing = this.#log.add(rows).catch(passIfUnavailable);
    return Promise.race([storing, patience]).finally(() => clearTimeout(timer));
  }
}

const passIfUnavailable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error;
};
