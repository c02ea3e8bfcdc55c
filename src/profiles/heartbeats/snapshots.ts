import type { StateFile } from '../../storage/changes/state-file.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type { Snapshot } from '../../storage/snapshot.ts';
import type { Outage } from './judge.ts';
import type { HeartbeatState } from './runs.ts';

/** The result of a log up to a seq, without the states of heartbeats. The log before it is not needed any more. */
interface HeartbeatSnapshot {
  seq: number;
  outages: readonly Outage[];
  /** Of states that are newer than the others: up to which seq they are, by name. */
  newer?: ReadonlyMap<string, number>;
}

/** Keeps that, and until when anything could be received. */
export interface HeartbeatSnapshots {
  /** Calls `take` with each state. Undefined if there is none. `onDamage` gets what is wrong. */
  read(
    take: (state: HeartbeatState) => void,
    onDamage: (damage: string) => void,
  ): Promise<HeartbeatSnapshot | undefined>;
  write(snapshot: HeartbeatSnapshot & { states: readonly HeartbeatState[] }): Promise<void>;
  /** Unix milliseconds; undefined if it is not known. */
  readAlive(): Promise<number | undefined>;
  writeAlive(at: number): Promise<void>;
}

const outagesName = ':outages';
const aliveName = ':alive';

/** States of one statement. */
const atOnce = 50;

type Entry = HeartbeatState | { outages: readonly Outage[] };

/** In files of the data directory. */
export const createFileSnapshots = (file: StateFile, alive: Snapshot): HeartbeatSnapshots => ({
  read: async (take, onDamage) => {
    let outages: readonly Outage[] = [];
    const apply = (value: unknown): void => {
      const entry = value as Entry;
      if ('outages' in entry) outages = entry.outages;
      else take(entry);
    };
    const seq = await file.read(apply, onDamage);
    return seq ? { seq, outages } : undefined;
  },
  write: ({ seq, states, outages }) => file.write<Entry>(seq, toPieces([{ outages }, ...states])),
  readAlive: async () => Number(String((await alive.read()) ?? '')) || undefined,
  writeAlive: (at) => alive.write(Buffer.from(`${at}\n`)),
});

function* toPieces<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let index = 0; index < all.length; index += atOnce) yield all.slice(index, index + atOnce);
}

/** In the database that instances share. Each row has a seq of its own. */
export const createSharedSnapshots = (database: Pick<Database, 'query'>): HeartbeatSnapshots => {
  const write = async (rows: readonly { name: string; seq: number; body: unknown }[]): Promise<void> => {
    const [names, seqs] = [rows.map(({ name }) => name), rows.map(({ seq }) => seq)];
    await database.query({
      text: `INSERT INTO signalbox.heartbeat_state AS known (name, seq, body)
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
        ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE known.seq <= excluded.seq
        RETURNING 1 AS one`,
      values: [names, seqs, rows.map(({ body }) => JSON.stringify(body))],
    });
  };
  return {
    read: async (take) => {
      const first = 'SELECT seq, body FROM signalbox.heartbeat_state WHERE name = $1';
      const [outages] = await database.query({ text: first, values: [outagesName] });
      if (!outages) return undefined;
      // Somebody may write just now: states are read after the seq of all, and may be newer.
      const newer = new Map<string, number>();
      const next = `SELECT name, seq, body FROM signalbox.heartbeat_state WHERE name NOT IN ($1, $2) AND name > $3
        ORDER BY name LIMIT ${atOnce}`;
      for (let [last, count] = ['', atOnce]; count === atOnce; ) {
        const rows = await database.query({ text: next, values: [outagesName, aliveName, last] });
        for (const { name, seq, body } of rows) {
          take(JSON.parse(body) as HeartbeatState);
          newer.set(name, seq);
        }
        count = rows.length;
        last = rows.at(-1)?.name ?? last;
      }
      return { seq: outages.seq, outages: JSON.parse(outages.body) as Outage[], newer };
    },
    write: async ({ seq, states, outages }) => {
      const text = 'DELETE FROM signalbox.heartbeat_state WHERE name <> ALL($1) AND name NOT IN ($2, $3) AND seq <= $4';
      const names = states.map(({ name }) => name);
      for (const piece of toPieces(states)) await write(piece.map((state) => ({ name: state.name, seq, body: state })));
      await write([{ name: outagesName, seq, body: outages }]);
      await database.query({ text: `${text} RETURNING 1 AS one`, values: [names, outagesName, aliveName, seq] });
    },
    readAlive: async () => {
      const text = 'SELECT seq FROM signalbox.heartbeat_state WHERE name = $1';
      const [row] = await database.query({ text, values: [aliveName] });
      return row?.seq;
    },
    writeAlive: async (at) => {
      const text = `INSERT INTO signalbox.heartbeat_state (name, seq, body) VALUES ($1, $2, 'null')
        ON CONFLICT (name) DO UPDATE SET seq = excluded.seq RETURNING 1 AS one`;
      await database.query({ text, values: [aliveName, at] });
    },
  };
};
