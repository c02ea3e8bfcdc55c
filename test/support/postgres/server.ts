import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { findFreePort } from '../free-port.ts';
import { atEnd, type Scope } from '../scope.ts';
import { waitUntil } from '../wait.ts';
import { admin, createData, ordinary } from './data-folder.ts';
import { createOwnedFolder, findInstallation, owner, type Version } from './installation.ts';
import { signalTree } from './process-tree.ts';

interface Options {
  version?: Version;
  /** Port. Default: a free port. */
  port?: number;
  /** Settings on the command line. They cannot be changed later. */
  settings?: Record<string, string | number>;
  /** Fills the data folder. By default, the folder gets a new database. */
  createFrom?: (data: string) => Promise<void>;
}

export interface PostgresServer {
  port: number;
  version: Version;
  data: string;
  /** Returns the URL for the ordinary user. This user owns the database `signalbox`. */
  url(database?: string): string;
  /** URL for the superuser, in the database `signalbox`. */
  adminUrl: string;
  pid(): number;
  /** Runs SQL as the superuser, on a separate connection. Returns the rows of the last statement. */
  sql<Row extends object = Record<string, unknown>>(text: string): Promise<Row[]>;
  /**
   * Stops the server: cleanly with SIGINT, or immediately with SIGQUIT. SIGKILL kills all its processes, as a power cut
   * would. Does nothing if the server is not running.
   */
  stop(signal?: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Starts the server. Stops it first if it is running. */
  restart(): Promise<void>;
  /** Stops all processes of the server with SIGSTOP, or continues them. */
  pause(): void;
  resume(): void;
  log(): string;
}

/** Starts a PostgreSQL server on 127.0.0.1 with its own data folder. The server is stopped at the end of the scope. */
export const startPostgres = async (t: Scope, options: Options = {}): Promise<PostgresServer> => {
  const { version = 18, createFrom, settings = {} } = options;
  const { program, environment } = findInstallation(version);
  const port = options.port ?? (await findFreePort());
  const folder = createOwnedFolder();
  const logPath = join(folder, 'log');
  let child: ChildProcess | undefined;
  const data = join(folder, 'data');
  const toUrl = (user: string, password: string, database: string): string =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const adminUrl = toUrl(admin.user, admin.password, ordinary.database);
  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const log = (): string => readFileSync(logPath, 'utf8');
  const start = async (): Promise<void> => {
    const output = openSync(logPath, 'a');
    const values = Object.entries({ port, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    child = spawn(program('postgres'), ['-D', data, ...values], {
      ...owner,
      env: environment,
      cwd: '/',
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    await waitUntil(`PostgreSQL accepts connections`, async () => {
      if (!isRunning()) throw new Error(`PostgreSQL ended on startup: ${log()}`);
      return runSql(adminUrl, 'SELECT 1').then(
        () => true,
        () => false,
      );
    });
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const { pid } = child ?? {};
    if (!child || pid === undefined || !isRunning()) return;
    const ended = once(child, 'exit');
    if (signal === 'SIGKILL') {
      signalTree(pid, signal);
      await ended;
      return;
    }
    signalTree(pid, 'SIGCONT');
    child.kill(signal);
    await ended;
  };
  atEnd(t, async () => {
    await stop('SIGQUIT');
    // A killed server leaves behind a small shared memory segment. Its number is in this file.
    const segment = readIfThere(join(data, 'postmaster.pid'))?.split('\n')[6]?.trim().split(/\s+/)[1];
    if (segment !== undefined) spawnSync('ipcrm', ['-m', segment]);
    rmSync(folder, { recursive: true, force: true });
  });
  await (createFrom ? createFrom(data) : createData(version, data));
  await start();
  return {
    port,
    version,
    data,
    url: (database = ordinary.database) => toUrl(ordinary.user, ordinary.password, database),
    adminUrl,
    pid: () => child?.pid ?? 0,
    sql: (text) => runSql(adminUrl, text),
    stop: (signal = 'SIGINT') => stop(signal),
    restart: async () => {
      await stop('SIGINT');
      await start();
    },
    pause: () => signalTree(child?.pid ?? 0, 'SIGSTOP'),
    resume: () => signalTree(child?.pid ?? 0, 'SIGCONT'),
    log,
  };
};

/** Runs SQL on a separate connection. Returns the rows of the last statement. */
export const runSql = async <Row extends object>(url: string, text: string): Promise<Row[]> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 20_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const results: unknown = await client.query(text);
    return (Array.isArray(results) ? results.at(-1) : results).rows;
  } finally {
    client.end().catch(() => undefined);
  }
};

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
};
