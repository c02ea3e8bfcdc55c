import { setTimeout } from 'node:timers/promises';
import type { Address, Host } from './address.ts';
import { Connection, type Preparing } from './connection.ts';
import { findLastingProblem } from './database-errors.ts';

/** Milliseconds that a second server gets to answer once one that takes changes has. */
const patienceMs = 250;

/** A timeline is the number of times that a standby became the primary before. */
const ask = {
  text: `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", CASE WHEN pg_is_in_recovery() THEN 0
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`,
};

interface Candidate {
  host: Host;
  connection: Connection;
  isReadOnly: boolean;
  timeline: number;
}

/** Finds the server that takes changes, among all of an address. */
export class Primary {
  readonly #address: Address;
  readonly #preparing: Preparing = { isPossible: true };
  /** The highest that was seen: a server with a lower one was replaced, though it may still run. */
  #timeline = 0;

  constructor(address: Address) {
    this.#address = address;
  }

  /** Rejects within about a second where no server takes changes; with a LastingProblem if one shows why. */
  async connect(): Promise<Connection> {
    const { connection, isReadOnly } = await this.#find();
    if (!isReadOnly) return connection;
    connection.close();
    throw new Error('the server takes no changes');
  }

  /** A connection for reads, whose answers after a silence are confirmed by asking all servers. */
  async connectToRead(): Promise<Connection> {
    const confirm = async (host: Host): Promise<void> => {
      const current = await this.#find();
      current.connection.close();
      if (current.host !== host) throw new Error('another server has become the primary');
    };
    return (await this.#find(this.#address.hosts.length > 1 ? confirm : undefined)).connection;
  }

  async #find(confirm?: (host: Host) => Promise<void>): Promise<Candidate> {
    const found: Candidate[] = [];
    let isOver = false;
    const attempts = this.#address.hosts.map(async (host) => {
      const candidate = await this.#open(host, confirm);
      if (isOver) candidate.connection.close();
      else found.push(candidate);
    });
    const patience = Promise.any(attempts).then(
      () => setTimeout(patienceMs),
      () => undefined,
    );
    await Promise.race([Promise.allSettled(attempts), patience]);
    isOver = true;
    const [newest, ...others] = found.toSorted((a, b) => b.timeline - a.timeline);
    for (const { connection } of others) connection.close();
    if (!newest) throw await explain(attempts);
    if (newest.timeline < this.#timeline) {
      newest.connection.close();
      throw new Error('this server was replaced by another');
    }
    this.#timeline = newest.timeline;
    return newest;
  }

  async #open(host: Host, confirm?: (host: Host) => Promise<void>): Promise<Candidate> {
    const connection = await Connection.open(this.#address, host, this.#preparing, confirm);
    try {
      const [row] = await connection.query(ask);
      if (row.timeline === 0) throw new Error('the server is a standby');
      return { connection, host, ...row };
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

/** Why none of the attempts succeeded: a lasting problem if there is one. */
const explain = async (attempts: readonly Promise<void>[]): Promise<unknown> => {
  const reasons = (await Promise.allSettled(attempts)).flatMap((each) => ('reason' in each ? [each.reason] : []));
  return reasons.map(findLastingProblem).find(Boolean) ?? reasons[0];
};
