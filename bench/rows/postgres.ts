import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { end, header, lastId } from '../../test/support/export-lines.ts';
import { admin } from '../../test/support/postgres/data-folder.ts';
import { toSkipPostgres } from '../../test/support/postgres/installation.ts';
import { type PostgresServer, runSql, startPostgres } from '../../test/support/postgres/server.ts';
import { runProgram } from '../../test/support/program.ts';
import { NotMeasurable, requireDisk, requireProgram } from '../support/machine.ts';
import { ask, createPost } from '../support/requests.ts';
import { compareRates, createSide, type Side } from '../support/rounds.ts';
import type { Bench, Measure } from '../support/run.ts';
import { startSignalbox } from '../support/server.ts';
import { createSeedTask, newTask } from '../support/tasks.ts';

/** Number of connections per side. */
const connections = 64;
/** Minimum duration of a round in seconds. pgbench spends part of it connecting. */
const minSeconds = 3;

type DatabaseBench = Bench & { database: PostgresServer };

/** Compares with a database server that syncs each commit. Throws a NotMeasurable if no such server can run. */
const onDatabase =
  (measure: (bench: DatabaseBench) => ReturnType<Measure>): Measure =>
  async (bench) => {
    const reason = toSkipPostgres();
    if (reason) throw new NotMeasurable(reason);
    requireDisk(tmpdir());
    const memory = { shared_buffers: '1GB', max_wal_size: '8GB', maintenance_work_mem: '512MB' };
    const database = await startPostgres(bench.scope, { settings: { ...memory, max_connections: 200 } });
    // Makes logins cheap, because otherwise they would take a large part of a short run.
    await database.sql(`SET scram_iterations = 1; ALTER ROLE ${admin.user} PASSWORD '${admin.password}'`);
    return measure({ ...bench, seconds: Math.max(minSeconds, bench.seconds), database });
  };

const toVariables = ({ database }: DatabaseBench, name?: string) => ({
  SIGNALBOX_STORE: database.url(name),
  SIGNALBOX_JWT_SECRET: 'a signing key for measurements, 32 bytes',
});

/** Starts an instance on the database `name` or, by default, on the server's default database. */
const startInstance = (bench: DatabaseBench, name?: string) => {
  const flags = ['--time-zone', 'UTC'];
  return startSignalbox(bench.scope, { place: 'any', flags, variables: toVariables(bench, name) });
};

/** Imports the tasks of a seed into an empty database that an instance has initialized. */
const importTasks = async (bench: DatabaseBench, count: number, name?: string): Promise<void> => {
  const tasks = Array.from({ length: count }, (_, place) => ({
    tasks: { Id: place + 1, ...createSeedTask(place, count), version: 1 },
  }));
  const input = [header, lastId(count), ...tasks.map((task) => JSON.stringify(task)), end, ''].join('\n');
  const { code, stderr } = await runProgram(['import'], { variables: toVariables(bench, name), input });
  if (code !== 0) throw new Error(`the import failed: ${stderr}`);
  await runSql(bench.database.url(name), 'VACUUM ANALYZE signalbox.task');
};

/** Runs transactions with pgbench from a script of prepared statements, one at a time on each connection. */
const runPgbench = async ({ scope, database, seconds }: DatabaseBench, script: string, clients = connections) => {
  const path = join(scope.folder, 'script.sql');
  writeFileSync(path, script);
  const threads = String(Math.min(2, clients));
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', threads, '-T', String(seconds), '-f', path];
  const { stdout } = await promisify(execFile)(requireProgram('pgbench'), [...args, database.adminUrl]);
  const [, count] = /actually processed: (\d+)/.exec(stdout) ?? [];
  const [, perSecond] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
  if (count === undefined || perSecond === undefined) throw new Error(`pgbench printed no rate:\n${stdout}`);
  return { count: Number(count), perSecond: Number(perSecond) };
};

/**
 * Measures creating tasks. Compares it with prepared INSERTs: one at a time, and in batches as large as signalbox's.
 */
export const createTasks = onDatabase(async (bench) => {
  const { database } = bench;
  const { url, pid } = await startInstance(bench);
  const pids = [database.pid(), pid];
  const request = createPost(`${url}/api/tasks`, newTask);
  const body = await ask(request);
  await database.sql(`CREATE TABLE plain (LIKE signalbox.task INCLUDING ALL);
    CREATE SEQUENCE plain_id; ALTER TABLE plain ALTER id SET DEFAULT nextval('plain_id')`);
  const ours = await createSide(bench, pids, request);
  const batch = await measureBatch(database, ours);
  const insert = (size: number): Side => {
    const rows = Array.from({ length: size }, () => `(1, 3, 1, '${body}')`).join(', ');
    const script = `INSERT INTO plain (status, priority, version, body) VALUES ${rows};`;
    const work = async () => {
      const { count, perSecond } = await runPgbench(bench, script, Math.ceil(connections / size));
      return { count: size * count, perSecond: size * perSecond };
    };
    return { pids, bytes: `INSERT 0 ${size}`.length, work };
  };
  const work = 'POST /api/tasks, --store postgres';
  const [one, many] = ['pgbench -M prepared, INSERT one by one', `pgbench -M prepared, ${batch} rows in an INSERT`];
  return [
    { work, ...(await compareRates(bench, ours, insert(1))), name: one, goal: '≥ 1 ×' },
    { work, ...(await compareRates(bench, ours, insert(batch))), name: many, goal: '≥ 0.7 ×' },
  ];
});

/** Returns the number of tasks that signalbox writes in one batch under load. The gate is updated once per batch. */
const measureBatch = async (database: PostgresServer, ours: Side): Promise<number> => {
  const countBatches = async (): Promise<number> => {
    // Statistics lag up to a second behind the last transaction.
    await setTimeout(1500);
    const gate = "WHERE relid = 'signalbox.gate'::regclass";
    const [row] = await database.sql(`SELECT n_tup_upd AS batches FROM pg_stat_user_tables ${gate}`);
    return Number(row?.['batches']);
  };
  const before = await countBatches();
  const { count } = await ours.work();
  return Math.min(connections, Math.max(1, Math.round(count / ((await countBatches()) - before))));
};

const many = 100_000;

/** Measures reading random tasks over HTTP. Compares it with a prepared SELECT by primary key. */
export const readTasks = onDatabase(async (bench) => {
  const { database } = bench;
  const { url, pid } = await startInstance(bench);
  await importTasks(bench, many);
  const pids = [database.pid(), pid];
  const ours = await createSide(bench, pids, { url: `${url}/api/tasks/[<number>]`, numbers: many });
  const columns = 'SELECT version, body FROM signalbox.task WHERE id =';
  const script = `\\set id random(1, ${many})\n${columns} :id;`;
  const [stored = {}] = await database.sql(`${columns} ${many}`);
  const bytes = Buffer.byteLength(Object.values(stored).join(''));
  const rates = await compareRates(bench, ours, { pids, bytes, work: () => runPgbench(bench, script) });
  const name = 'pgbench -M prepared, SELECT by random primary keys';
  return [{ work: 'GET /api/tasks/{id}, random ids, --store postgres', ...rates, name, goal: '≥ 0.8 ×' }];
});

const large = 1_000_000;

/** Measures lists of fifty tasks with their total, then repeats this with ten times as many tasks. */
export const listTasks = onDatabase(async (bench) => {
  const { database } = bench;
  await database.sql('CREATE DATABASE small OWNER signalbox');
  const [one, two] = [await startInstance(bench), await startInstance(bench, 'small')];
  await importTasks(bench, large);
  await importTasks(bench, large / 10, 'small');
  const pids = [database.pid(), one.pid, two.pid];
  const compare = async (query: string) => {
    const toSide = (url: string) => createSide(bench, pids, { url: `${url}/api/tasks${query}` });
    const rates = await compareRates(bench, await toSide(one.url), await toSide(two.url));
    const work = `GET /api/tasks${query}, 50 of 1,000,000, --store postgres`;
    return { work, ...rates, name: 'itself with a tenth of them', goal: '≥ 0.95 ×' };
  };
  return [await compare(''), await compare('?status=Pending')];
});

/** Measures creating tasks with two instances on one database. Compares it with one instance. */
export const twoInstances = onDatabase(async (bench) => {
  const [one, two] = [await startInstance(bench), await startInstance(bench)];
  const pids = [bench.database.pid(), one.pid, two.pid];
  const toSide = (url: string, own: number) =>
    createSide(bench, pids, { ...createPost(`${url}/api/tasks`, newTask), connections: own });
  const halves = [await toSide(one.url, connections / 2), await toSide(two.url, connections / 2)];
  const alone = await toSide(one.url, connections);
  const work = async () => {
    const done = await Promise.all(halves.map((half) => half.work()));
    const sum = (key: 'count' | 'perSecond') => done.reduce((total, each) => total + each[key], 0);
    return { count: sum('count'), perSecond: sum('perSecond') };
  };
  const rates = await compareRates(bench, { pids, bytes: alone.bytes, work }, alone);
  return [{ work: 'POST /api/tasks on two instances, --store postgres', ...rates, name: 'on one of them' }];
});
