import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { farewellMs } from '../../storage/postgres/lease.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import type { Heard } from './heard.ts';

/** Milliseconds between two copies in a file, and sooner where a source or an alert is new. */
const fileMs = 60_000;
const fileSoonMs = 5000;

/** The same in a database, where each instance also reads what others have heard. */
const sharedMs = 10_000;

const Pairs = Type.Array(Type.Tuple([Type.String(), Type.Number()]));
const Copy = Type.Object({ sources: Pairs, ends: Pairs });

/** Copies of what was heard, of this process and of others. */
export interface HeardCopies {
  /** Milliseconds after which other instances know what one has heard. */
  patienceMs: number;
  /** Takes over what earlier processes have left. */
  begin(): Promise<void>;
  /** Writes a copy if one is due; resolves to whether others have been read. */
  keep(): Promise<boolean>;
  close(): Promise<void>;
}

/** In a small file, which is replaced. Where it cannot be written, the next start knows less, and ends alerts later. */
export const createFileCopies = (heard: Heard, file: ReplacedFile): HeardCopies => {
  let hasBegun = false;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const write = async (): Promise<void> => {
    heard.hasNew = false;
    writtenAt = performance.now();
    await file.write(Buffer.from(JSON.stringify(heard.copy()))).catch(() => undefined);
  };
  return {
    patienceMs: 0,
    begin: async () => {
      const copy = parseCopy(String((await file.read()) ?? ''));
      if (copy) heard.merge(copy);
      hasBegun = true;
    },
    keep: async () => {
      const age = performance.now() - writtenAt;
      if (heard.isEmpty || age < (heard.hasNew ? fileSoonMs : fileMs)) return false;
      await write();
      return false;
    },
    close: async () => {
      if (hasBegun && !heard.isEmpty) await write();
    },
  };
};

/** In the database that instances share, a row for each process. */
export const createSharedCopies = (heard: Heard, database: Pick<Database, 'query' | 'instance'>): HeardCopies => {
  let hasBegun = false;
  let keptAt = Number.NEGATIVE_INFINITY;
  const read = async (isStart: boolean): Promise<void> => {
    // While no instance was there, nothing could be heard.
    const reference = isStart ? '(SELECT max(at) FROM signalbox.alert_heard)' : 'now()';
    const rows = await database.query({
      text: `SELECT body, (extract(epoch FROM ${reference} - at) * 1000)::float8 AS age
        FROM signalbox.alert_heard WHERE instance <> $1`,
      values: [database.instance],
    });
    for (const { body, age } of rows) {
      const copy = parseCopy(body);
      if (copy) heard.merge(copy, Math.max(0, Number(age)));
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
      values: [database.instance, JSON.stringify(heard.copy())],
    });
    await database.query({
      text: "DELETE FROM signalbox.alert_heard WHERE at < now() - interval '1 day' RETURNING 1 AS one",
    });
  };
  const keep = async (): Promise<boolean> => {
    if (performance.now() - keptAt < sharedMs) return false;
    keptAt = performance.now();
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
  return {
    patienceMs: 2 * sharedMs,
    begin,
    keep,
    close: async () => {
      if (hasBegun)
        await awaitWithin(
          farewellMs,
          write().catch(() => undefined),
        );
    },
  };
};

const parseCopy = (text: string): Static<typeof Copy> | undefined => {
  const value = parseJson(text);
  return Value.Check(Copy, value) ? value : undefined;
};
