import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { Host, PostgresAddress } from './address.ts';
import { findPermanentProblem } from './database-errors.ts';

/** Maximum milliseconds for connecting. */
const connectMs = 1000;
/** Maximum milliseconds for a statement. */
const statementMs = 3000;

/** Milliseconds without a response after which the next response must be confirmed. */
const silenceMs = 500;

/** Milliseconds that other servers get to respond after a server that accepts changes has responded. */
const patienceMs = 250;

/** SQLSTATEs for a prepared statement whose name is unknown to the server or already in use. */
const strangeNames = new Set(['26000', '42P05']);

/**
 * Statement that asks a server for its role and its timeline. The timeline counts how often standbys have been promoted
 * so far.
 */
const ask: Statement = {
  text: `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", CASE WHEN pg_is_in_recovery() THEN 0
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`,
};

const toNumbers = (text: string): number[] => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number));

/** Parsers for bigint and bigint[]. Their values are ids and counts, far below 2^53. */
const ownParsers = new Map<number, (text: string) => unknown>([
  [20, Number],
  [1016, toNumbers],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number) => ownParsers.get(oid) ?? pg.types.getTypeParser(oid),
};

export interface Statement {
  text: string;
  values?: unknown[];
  /** True for a frequent statement. Each connection parses such a statement only once. */
  isPrepared?: boolean;
}

/**
 * Support for prepared statements. PgBouncer before version 1.21 does not support them, because it switches connections
 * between transactions.
 */
interface Preparing {
  isPossible: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are known where the statement is.
export type Row = any;

/** Result of a statement. */
export type StatementOutcome = { rows: Row[]; command: string; rowCount: number } | { error: Error };

/** Connection to a server. Ends if a statement gets no response in time, by default within 3 s. */
export class Connection {
  readonly #client: pg.Client;
  #isOpen = true;
  #warnings = 0;
  #lastAnswerAt = performance.now();
  /** Throws if another server has become the primary. */
  readonly #confirm: (() => Promise<void>) | undefined;
  readonly #preparing: Preparing;
  #confirmation: Promise<void> | undefined;

  private constructor(client: pg.Client, preparing: Preparing, confirm: (() => Promise<void>) | undefined) {
    this.#client = client;
    this.#preparing = preparing;
    this.#confirm = confirm;
    client.on('end', () => {
      this.#isOpen = false;
    });
    // Waiting statements fail with this error, too.
    client.on('error', () => {
      this.#isOpen = false;
    });
    client.on('notice', ({ code }) => {
      if (code?.startsWith('01')) this.#warnings += 1;
    });
  }

  /**
   * Opens a connection. Rejects within a second if the server cannot be reached. With `confirm`, a response after a
   * silence counts only once `confirm` resolves, because a server that was paused may not know that another server has
   * replaced it.
   */
  static async open(
    { user, password, database, ssl }: PostgresAddress,
    host: Host,
    preparing: Preparing,
    confirm?: (host: Host) => Promise<void>,
  ): Promise<Connection> {
    const client = new pg.Client({
      ...host,
      user,
      password,
      database,
      ssl,
      types,
      keepAlive: true,
      pipeline: true,
      connectionTimeoutMillis: connectMs,
      application_name: 'signalbox',
    });
    const connection = new Connection(client, preparing, confirm && (() => confirm(host)));
    try {
      await client.connect();
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Number of warnings from the server. A commit with a warning may exist only on this server, because its wait for the
   * standby was cancelled.
   */
  get warnings(): number {
    return this.#warnings;
  }

  /** Sends all statements together and resolves to their outcomes. */
  async run(statements: readonly Statement[], limitMs = statementMs): Promise<StatementOutcome[]> {
    if (statements.length === 0) return [];
    const outcomes = await this.#send(statements, limitMs);
    const silence = performance.now() - this.#lastAnswerAt;
    this.#lastAnswerAt += silence;
    if (this.#confirm && silence > silenceMs) this.#confirmation ??= this.#confirmOrClose(this.#confirm);
    await this.#confirmation;
    return outcomes;
  }

  /** Resolves to the rows of a single statement. */
  async query(statement: Statement): Promise<Row[]> {
    const [outcome] = await this.run([statement]);
    if (!outcome || 'error' in outcome) throw outcome?.error;
    return outcome.rows;
  }

  close(): void {
    this.#isOpen = false;
    this.#client.end().catch(() => undefined);
  }

  async #confirmOrClose(confirm: () => Promise<void>): Promise<void> {
    try {
      await confirm();
    } catch (error) {
      this.close();
      throw error;
    } finally {
      this.#confirmation = undefined;
    }
  }

  /**
   * Sends all statements together. Responses arrive in order, so the time limit of the last statement covers all of
   * them.
   */
  #send(statements: readonly Statement[], limitMs: number): Promise<StatementOutcome[]> {
    return new Promise((resolve) => {
      const outcomes: StatementOutcome[] = [];
      const last = statements.length - 1;
      let hasFailed = false;
      const note = (index: number, error: Error | null, result: pg.QueryResult): void => {
        // After any other error, the server may not know the name of a statement whose preparation was skipped.
        const isFirst = error !== null && !hasFailed;
        if (isFirst && strangeNames.has((error as { code?: string }).code ?? '')) this.#preparing.isPossible = false;
        hasFailed ||= error !== null;
        const outcome = error ? { error } : toOutcome(result);
        outcomes[index] ??= outcome;
        // A statement without a response will not get one any more.
        if (index === last) resolve(statements.map((_, each) => outcomes[each] ?? outcome));
      };
      const { stream } = this.#client.connection;
      stream.cork();
      for (const [index, { text, values, isPrepared }] of statements.entries()) {
        const name = isPrepared && this.#preparing.isPossible ? nameOf(text) : undefined;
        const config = { text, values, name, query_timeout: index === last ? limitMs : 0 } as pg.QueryConfig;
        this.#client.query(config, (error: Error | null, result: pg.QueryResult) => note(index, error, result));
      }
      stream.uncork();
    });
  }
}

/** Names of prepared statements by text. The same name has the same text in every version. */
const names = new Map<string, string>();

const nameOf = (text: string): string => {
  const name = names.get(text) ?? createHash('sha256').update(text).digest('base64url');
  names.set(text, name);
  return name;
};

/** Returns the last result of a string. The string may contain several statements. */
const toOutcome = (result: pg.QueryResult | pg.QueryResult[]): StatementOutcome => {
  const { rows, command, rowCount } = [result].flat().at(-1) as pg.QueryResult;
  return { rows, command, rowCount: rowCount ?? 0 };
};

interface Candidate {
  host: Host;
  connection: Connection;
  isReadOnly: boolean;
  timeline: number;
}

/** Finds the server that accepts changes, among the servers of an address. */
export class Primary {
  readonly #address: PostgresAddress;
  readonly #preparing: Preparing = { isPossible: true };
  /** Highest timeline seen so far. A server with a lower timeline has been replaced, even if it is still running. */
  #timeline = 0;

  constructor(address: PostgresAddress) {
    this.#address = address;
  }

  /**
   * Connects to the server that accepts changes. Rejects within about a second if there is none, and with a
   * PermanentProblem if a server gives a permanent reason.
   */
  async connect(): Promise<Connection> {
    const { connection, isReadOnly } = await this.#find();
    if (!isReadOnly) return connection;
    connection.close();
    throw new Error('the server is read-only');
  }

  /** Opens a connection for reads. A response after a silence is confirmed by asking all servers. */
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
      throw new Error('this server was replaced by another server');
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

/** Resolves to the reason why all attempts failed. Permanent problems take precedence. */
const explain = async (attempts: readonly Promise<void>[]): Promise<unknown> => {
  const reasons = (await Promise.allSettled(attempts)).flatMap((each) => ('reason' in each ? [each.reason] : []));
  return reasons.map(findPermanentProblem).find(Boolean) ?? reasons[0];
};
