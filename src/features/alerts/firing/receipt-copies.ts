import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { StoreUnavailable } from '../../../lib/expected-errors.ts';
import { parseJson } from '../../../lib/parse-json.ts';
import type { Database } from '../../../storage/postgres/database.ts';
import type { ReplacedFile } from '../../../storage/replaced-file.ts';
import type { ReceiptTimes } from './receipt-times.ts';

/**
 * Milliseconds between two copies to a file, and between the first alert of a new source or series and the next copy.
 */
const fileMs = 60_000;
const fileSoonMs = 5000;

/** Milliseconds between two copies to the database. */
const databaseMs = 10_000;

const Pairs = Type.Array(Type.Tuple([Type.String(), Type.Number()]));
const Copy = Type.Object({ sources: Pairs, ends: Pairs });

/** Copies of receipt times. They are read after restarts and by other instances. */
export interface ReceiptCopies {
  /** Milliseconds until every instance knows the receipt times of all instances. */
  graceMs: number;
  /** Loads the copies that earlier processes stored. */
  begin(): Promise<void>;
  /** Writes a copy if one is due. Resolves to true if the copies of other instances have been read. */
  sync(): Promise<boolean>;
  close(): Promise<void>;
}

/** Stores copies in a small file. If the file cannot be written, alerts expire later after the next startup. */
export const createFileCopies = (times: ReceiptTimes, file: ReplacedFile): ReceiptCopies => {
  let hasBegun = false;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const write = async (): Promise<void> => {
    times.hasNew = false;
    writtenAt = performance.now();
    await file.write(Buffer.from(JSON.stringify(times.copy()))).catch(() => undefined);
  };
  return {
    graceMs: 0,
    begin: async () => {
      const copy = parseCopy(String((await file.read()) ?? ''));
      if (copy) times.merge(copy);
      hasBegun = true;
    },
    sync: async () => {
      const age = performance.now() - writtenAt;
      if (times.isEmpty || age < (times.hasNew ? fileSoonMs : fileMs)) return false;
      await write();
      return false;
    },
    close: async () => {
      if (hasBegun && !times.isEmpty) await write();
    },
  };
};

/** Stores copies in the shared database, one row per process. */
export const createDatabaseCopies = (
  times: ReceiptTimes,
  database: Pick<Database, 'query' | 'instance' | 'waitForFarewell'>,
): ReceiptCopies => {
  let hasBegun = false;
  let syncedAt = Number.NEGATIVE_INFINITY;
  const read = async (isStart: boolean): Promise<void> => {
    // Time counts only while an instance is running.
    const reference = isStart ? '(SELECT max(at) FROM signalbox.alert_heard)' : 'now()';
    const rows = await database.query({
      text: `SELECT body, (extract(epoch FROM ${reference} - at) * 1000)::float8 AS age
        FROM signalbox.alert_heard WHERE instance <> $1`,
      values: [database.instance],
    });
    for (const { body, age } of rows) {
      const copy = parseCopy(body);
      if (copy) times.merge(copy, Math.max(0, Number(age)));
    }
  };
  const begin = async (): Promise<void> => {
    try {
      await read(true);
      hasBegun = true;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  };
  const write = async (): Promise<void> => {
    await database.query({
      text: `INSERT INTO signalbox.alert_heard (instance, at, body) VALUES ($1, now(), $2)
        ON CONFLICT (instance) DO UPDATE SET at = excluded.at, body = excluded.body RETURNING 1 AS one`,
      values: [database.instance, JSON.stringify(times.copy())],
    });
    await database.query({
      text: "DELETE FROM signalbox.alert_heard WHERE at < now() - interval '1 day' RETURNING 1 AS one",
    });
  };
  const sync = async (): Promise<boolean> => {
    if (performance.now() - syncedAt < databaseMs) return false;
    syncedAt = performance.now();
    try {
      if (!hasBegun) await begin();
      if (!hasBegun) return false;
      await write();
      await read(false);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) return false;
      throw error;
    }
  };
  const writeQuietly = () => write().catch(() => undefined);
  return {
    graceMs: 2 * databaseMs,
    begin,
    sync,
    close: async () => {
      if (hasBegun) await database.waitForFarewell(writeQuietly());
    },
  };
};

const parseCopy = (text: string): Static<typeof Copy> | undefined => {
  const value = parseJson(text);
  return Value.Check(Copy, value) ? value : undefined;
};
