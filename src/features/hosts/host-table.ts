import type { Database } from '../../storage/postgres/database.ts';
import { toPlainValues, toRowValues } from './columns.ts';
import type { HostState, HostStore } from './host-state.ts';
import { findRing, type RingRow, toSlot } from './rings.ts';

/** Converts rows to columns for `unnest`: steps, slots, times and values. */
export const toRowColumns = (rows: readonly RingRow[]): unknown[][] => [
  rows.map(({ step }) => step),
  rows.map(({ step, time }) => toSlot(findRing(step), time)),
  rows.map(({ time }) => time),
  rows.map(({ values }) => JSON.stringify(toPlainValues(values))),
];

/** Store for the states and rows of hosts in the shared database. */
export class HostTable implements HostStore {
  readonly #database: Pick<Database, 'query'>;

  constructor(database: Pick<Database, 'query'>) {
    this.#database = database;
  }

  async load(): Promise<HostState[]> {
    const rows = await this.#database.query({ text: 'SELECT body FROM signalbox.host ORDER BY name' });
    return rows.map(({ body }) => JSON.parse(body));
  }

  async loadChanged(known: ReadonlyMap<string, HostState>): Promise<HostState[]> {
    const times = await this.#database.query({ text: 'SELECT name, at FROM signalbox.host', isPrepared: true });
    const changed = times.filter(({ name, at }) => known.get(name)?.at !== Number(at)).map(({ name }) => name);
    if (changed.length === 0) return [];
    const text = 'SELECT body FROM signalbox.host WHERE name = ANY($1)';
    const rows = await this.#database.query({ text, values: [changed] });
    return rows.map(({ body }) => JSON.parse(body));
  }

  async save({ name, at }: HostState, body: string, rows: readonly RingRow[]): Promise<void> {
    await this.#database.query({
      text: `WITH history AS (
        INSERT INTO signalbox.host_row (host, step, slot, at, body)
          SELECT $1, * FROM unnest($4::int[], $5::int[], $6::bigint[], $7::text[])
          ON CONFLICT (host, step, slot) DO UPDATE SET at = excluded.at, body = excluded.body
      ) INSERT INTO signalbox.host AS known (name, at, body) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET at = excluded.at, body = excluded.body WHERE known.at <= excluded.at
        RETURNING 1 AS one`,
      isPrepared: true,
      values: [name, at, body, ...toRowColumns(rows)],
    });
  }

  async read(name: string, step: number, from: number, to: number): Promise<RingRow[]> {
    const rows = await this.#database.query({
      text: `SELECT at, body FROM signalbox.host_row WHERE host = $1 AND step = $2 AND at BETWEEN $3 AND $4 ORDER BY at`,
      isPrepared: true,
      values: [name, step, from, to],
    });
    return rows.map(({ at, body }) => ({ step, time: Number(at), values: toRowValues(JSON.parse(body)) }));
  }

  async delete(name: string): Promise<void> {
    const text = `WITH history AS (DELETE FROM signalbox.host_row WHERE host = $1)
      DELETE FROM signalbox.host WHERE name = $1 RETURNING 1 AS one`;
    await this.#database.query({ text, values: [name] });
  }

  async close(): Promise<void> {}
}
