import type { FastifyBaseLogger } from 'fastify';
import type { AccessKeys, KnownKey } from '../../auth/access.ts';
import { parseJsonList } from '../../lib/parse-json.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';

/** Milliseconds between writes of key uses. */
const writeIntervalMs = 10 * 60_000;

/** Maximum milliseconds for the last write when the server stops. */
const lastWriteMs = 1000;

/** First digits of a key's hash, the time of its first known use and the time of its last use, in Unix milliseconds. */
type StoredUse = [id: string, since: number, last: number];

/** Storage for key uses: the data directory, or the database that instances share. */
interface UseStore {
  read(ids: readonly string[]): Promise<StoredUse[]>;
  write(uses: readonly StoredUse[]): Promise<void>;
}

const toId = ({ sha256 }: KnownKey): string => sha256.slice(0, 16);

/**
 * Tracks when keys are used. Stores uses every 10 minutes instead of with each request. If storing a use fails, the
 * next use of the key makes up for it.
 */
export const createKeyUses = (
  keys: Pick<AccessKeys, 'list'>,
  store: UseStore,
  log: Pick<FastifyBaseLogger, 'warn'>,
) => {
  let written = '';
  const toUses = (): StoredUse[] => keys.list().map((key) => [toId(key), key.use.since, key.use.last]);
  const save = async (): Promise<void> => {
    const uses = toUses();
    if (uses.length === 0) return;
    const text = JSON.stringify(uses);
    if (text === written) return;
    await store.write(uses);
    written = text;
  };
  const load = async (): Promise<void> => {
    const known = keys.list();
    if (known.length === 0) return;
    const uses = new Map((await store.read(known.map(toId))).map(([id, ...times]) => [id, times]));
    for (const key of known) {
      const [since = key.use.since, last = 0] = uses.get(toId(key)) ?? [];
      key.use.since = Math.min(since, key.use.since);
      key.use.last = Math.max(last, key.use.last);
    }
  };
  const update = (): Promise<void> =>
    load()
      .then(save)
      .catch((err: unknown) => log.warn({ err }, 'keys: the times of last use could not be stored'));
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Reads the uses recorded by other instances and earlier runs. */
    load: (): Promise<void> => load().catch(() => undefined),
    start: (): void => {
      void update();
      timer = setInterval(() => void update(), writeIntervalMs).unref();
    },
    close: async (): Promise<void> => {
      clearInterval(timer);
      // An unresponsive database must not delay the shutdown for long.
      if (timer) await awaitWithin(lastWriteMs, update());
    },
  };
};

/** Stores key uses in a small file. */
export const createFileUses = (file: ReplacedFile): UseStore => ({
  read: async () => parseJsonList(String(await file.read()), isUse),
  write: (uses) => file.write(Buffer.from(JSON.stringify(uses))),
});

const isUse = (use: unknown): use is StoredUse =>
  Array.isArray(use) && typeof use[0] === 'string' && Number.isSafeInteger(use[1]) && Number.isSafeInteger(use[2]);

/** Stores key uses in a table. The latest use across all instances wins. */
export const createDatabaseUses = (database: Pick<Database, 'query'>): UseStore => ({
  read: async (ids) => {
    const text = 'SELECT id, since, last FROM signalbox.key_use WHERE id = ANY($1)';
    const rows = await database.query({ text, values: [ids] });
    return rows.map(({ id, since, last }): StoredUse => [id, Number(since), Number(last)]);
  },
  write: async (uses) => {
    await database.query({
      text: `INSERT INTO signalbox.key_use AS known (id, since, last)
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
        ON CONFLICT (id) DO UPDATE SET since = least(known.since, excluded.since), last = greatest(known.last, excluded.last)
        RETURNING 1 AS one`,
      values: [uses.map(([id]) => id), uses.map(([, since]) => since), uses.map(([, , last]) => last)],
    });
  },
});
