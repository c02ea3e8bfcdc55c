import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Address, Host } from './address.ts';

/** Milliseconds to connect, and for a statement until its answer. */
const connectMs = 1000;
const statementMs = 3000;

/** Milliseconds without an answer after which the next one is confirmed. */
const silenceMs = 500;

/** Oids of bigint and bigint[]: ids and counts stay far below 2^53. */
const bigint = 20;
const bigints = 1016;

const toNumbers = (text: string): number[] => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number));

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number) => {
    if (oid === bigint) return Number;
    return oid === bigints ? toNumbers : pg.types.getTypeParser(oid);
  },
};

export interface Statement {
  text: string;
  values?: unknown[];
  /** For a text that comes again and again: each connection has it parsed once. */
  isPrepared?: boolean;
}

/** Whether statements can be prepared; not with a PgBouncer before 1.21, which gives each transaction any connection. */
export interface Preparing {
  isPossible: boolean;
}

/** SQLSTATEs of a name that the server does not know, or knows already. */
const strangeNames = new Set(['26000', '42P05']);

/** Statements that are prepared by their texts. Equal names mean equal texts, whichever version has prepared them. */
const names = new Map<string, string>();

const nameOf = (text: string): string => {
  const name = names.get(text) ?? createHash('sha256').update(text).digest('base64url');
  names.set(text, name);
  return name;
};

// biome-ignore lint/suspicious/noExplicitAny: the columns are known where the statement is.
export type Row = any;

/** What a statement led to. */
export type Outcome = { rows: Row[]; command: string; rowCount: number } | { error: Error };

/** One connection to a server. A statement whose answer does not come within 3 s ends it. */
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
    // Statements that wait get the error too.
    client.on('error', () => {
      this.#isOpen = false;
    });
    client.on('notice', ({ code }) => {
      if (code?.startsWith('01')) this.#warnings += 1;
    });
  }

  /**
   * Rejects within a second where no connection can be made. With `confirm`, an answer after a silence counts only once
   * that resolves: a server that stood still may not know that another has replaced it.
   */
  static async open(
    { user, password, database, ssl }: Address,
    host: Host,
    preparing: Preparing = { isPossible: false },
    confirm?: (host: Host) => Promise<void>,
  ): Promise<Connection> {
    const client = new pg.Client({
      ...{ ...host, user, password, database, ssl, types, keepAlive: true, pipeline: true },
      ...{ connectionTimeoutMillis: connectMs, application_name: 'signalbox' },
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

  /** How often the server has warned. A commit that warns may be on this server alone: its wait for others was ended. */
  get warnings(): number {
    return this.#warnings;
  }

  /** Sends all statements at once; resolves to the outcome of each. */
  async run(statements: readonly Statement[]): Promise<Outcome[]> {
    const outcomes = await this.#send(statements);
    const silence = performance.now() - this.#lastAnswerAt;
    this.#lastAnswerAt += silence;
    if (this.#confirm && silence > silenceMs) this.#confirmation ??= this.#confirmOrClose(this.#confirm);
    await this.#confirmation;
    return outcomes;
  }

  /** The rows of one statement. */
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

  /** Writes all statements at once. They follow each other on the wire, so the time limit of the last one is that of all. */
  #send(statements: readonly Statement[]): Promise<Outcome[]> {
    return new Promise((resolve) => {
      const outcomes: Outcome[] = new Array(statements.length);
      const last = statements.length - 1;
      let left = statements.length;
      if (left === 0) resolve(outcomes);
      const settle = (index: number, outcome: Outcome): void => {
        if (outcomes[index]) return;
        outcomes[index] = outcome;
        left -= 1;
        // If the last one fails before others have an answer, none comes any more.
        if (index === last) for (const other of statements.keys()) settle(other, outcome);
        if (left === 0) resolve(outcomes);
      };
      const { stream } = this.#client.connection;
      let hasFailed = false;
      stream.cork();
      for (const [index, { text, values, isPrepared }] of statements.entries()) {
        const name = isPrepared && this.#preparing.isPossible ? nameOf(text) : undefined;
        const config = { text, values, name, query_timeout: index === last ? statementMs : 0 } as pg.QueryConfig;
        this.#client.query(config, (error: Error | null, result: pg.QueryResult) => {
          // After a first error of another kind, a statement whose preparation was skipped is unknown, too.
          const isFirst = error !== null && !hasFailed;
          if (isFirst && strangeNames.has((error as { code?: string }).code ?? '')) this.#preparing.isPossible = false;
          hasFailed ||= error !== null;
          settle(index, error ? { error } : toOutcome(result));
        });
      }
      stream.uncork();
    });
  }
}

/** Several statements in one text have several results. */
const toOutcome = (result: pg.QueryResult | pg.QueryResult[]): Outcome => {
  const { rows, command, rowCount } = [result].flat().at(-1) as pg.QueryResult;
  return { rows, command, rowCount: rowCount ?? 0 };
};
