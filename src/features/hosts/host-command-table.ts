import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RemoteResult } from '../../kit/offers.ts';
import { passIfUnavailable } from '../../lib/expected-errors.ts';
import { hourMs } from '../../lib/units.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { type CommandQueue, createFullError, mostWaiting, type SentCommand } from './host-commands.ts';

/** Milliseconds between two queries for the result of a command. */
const resultMs = 500;

/** Seconds until a command expires whose instance has been killed. */
const expirySeconds = 60;

/**
 * Queue in the database that instances share. Any instance can receive the request, send the command in the response to
 * the host's report, and receive the result.
 */
export class HostCommandTable implements CommandQueue {
  readonly #database: Pick<Database, 'query'>;
  /** Hosts for which commands are waiting, as of the last query. */
  #hosts: ReadonlySet<string> = new Set();

  constructor(database: Pick<Database, 'query' | 'expire'>, clock: () => Date) {
    this.#database = database;
    database.expire({ table: 'host_command', key: 'id', at: { timestamp: 'until' }, keptMs: hourMs, clock });
  }

  async run(host: string, command: Omit<SentCommand, 'id'>, signal: AbortSignal): Promise<RemoteResult> {
    const id = randomUUID();
    const body = JSON.stringify({ id, ...command } satisfies SentCommand);
    const rows = await this.#database.query({
      // A query that is repeated after a lost connection finds its own row.
      text: `INSERT INTO signalbox.host_command (id, host, body, until)
        SELECT $1::text, $2::text, $3::text, now() + $4 * interval '1 s' WHERE $5 > (
          SELECT count(*) FROM signalbox.host_command WHERE host = $2 AND until > now() AND id <> $1
        ) ON CONFLICT (id) DO UPDATE SET until = excluded.until RETURNING id`,
      values: [id, host, body, expirySeconds, mostWaiting],
    });
    if (rows.length === 0) throw createFullError(host);
    this.#hosts = new Set([...this.#hosts, host]);
    try {
      return await this.#awaitResult(id, signal);
    } finally {
      const text = 'DELETE FROM signalbox.host_command WHERE id = $1';
      // A row that remains expires.
      void this.#database.query({ text, values: [id] }).catch(() => undefined);
    }
  }

  /** Finds commands that other instances have received. */
  async catchUp(): Promise<void> {
    const text = 'SELECT DISTINCT host FROM signalbox.host_command WHERE taken_by IS NULL AND until > now()';
    const rows = await this.#database.query({ text, isPrepared: true });
    this.#hosts = new Set(rows.map(({ host }) => host));
  }

  async take(host: string): Promise<SentCommand[]> {
    // Most reports need no query.
    if (!this.#hosts.has(host)) return [];
    const rows = await this.#database.query({
      // A query that is repeated after a lost connection finds the rows that it has taken.
      text: `UPDATE signalbox.host_command SET taken_by = $2
        WHERE host = $1 AND coalesce(taken_by, $2) = $2 AND until > now() RETURNING body`,
      values: [host, randomUUID()],
    });
    return rows.map(({ body }) => JSON.parse(body));
  }

  async settle(host: string, id: string, result: RemoteResult): Promise<boolean> {
    const rows = await this.#database.query({
      text: `UPDATE signalbox.host_command SET result = $3
        WHERE id = $1 AND host = $2 AND taken_by IS NOT NULL AND result IS NULL AND until > now() RETURNING id`,
      values: [id, host, JSON.stringify(result)],
    });
    return rows.length > 0;
  }

  async #awaitResult(id: string, signal: AbortSignal): Promise<RemoteResult> {
    for (;;) {
      signal.throwIfAborted();
      const text = 'SELECT result FROM signalbox.host_command WHERE id = $1 AND result IS NOT NULL';
      // The host may still be running the command while the database is unavailable.
      const rows = await this.#database.query({ text, values: [id], isPrepared: true }).catch(passIfUnavailable);
      const [row] = rows ?? [];
      if (row) return JSON.parse(row.result);
      await pause(resultMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
