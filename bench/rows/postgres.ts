import type { PostgresServer } from '../../test/support/postgres/server.ts';
import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import type { LoadRequest } from '../support/load.ts';
import { connections, fillTasks, runPgbench, startDatabase, startInstance } from '../support/postgres.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { takeTurns } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import { newTask } from '../support/tasks.ts';
import type { Bench, Row } from './row.ts';

/** Work per second, with the processor time of PostgreSQL and of the instances. */
interface Sides {
  database: PostgresServer;
  instances: readonly Server[];
  /** Tasks per second. */
  ours(): Promise<number>;
  theirs(): Promise<number>;
}

type Compared = Pick<Finding, 'id' | 'work' | 'goals'> & { name: string; bytes?: [number, number] };

const compare = async (bench: Bench, sides: Sides, { name, ...row }: Compared): Promise<Finding> => {
  const { rounds, seconds } = bench;
  const cpuMs: [number[], number[]] = [[], []];
  const pids = [sides.database.pid(), ...sides.instances.map(({ pid }) => pid)];
  const toMeasurement = (side: 0 | 1, measure: () => Promise<number>) => async (): Promise<number> => {
    const before = readCpuMs(...pids);
    const rate = await measure();
    cpuMs[side].push((readCpuMs(...pids) - before) / rate);
    return rate;
  };
  for (const warmUp of [sides.ours, sides.theirs]) await warmUp();
  const measurements = [toMeasurement(0, sides.ours), toMeasurement(1, sides.theirs)];
  const [ours = [], figures = []] = await takeTurns(rounds, measurements);
  const cpuRatios = cpuMs[1].map((ms, round) => ms / (cpuMs[0][round] ?? Number.NaN));
  return { ...row, unit: '/s', ours, beside: { name, figures }, cpuRatios, rounds: `${rounds} × ${seconds} s` };
};

const toRate =
  ({ load, seconds }: Bench, request: LoadRequest) =>
  async (): Promise<number> =>
    (await load({ connections, ...request }, seconds)).perSecond;

/** A table with the columns and indexes of tasks. */
const prepare = `CREATE TABLE plain (LIKE signalbox.task INCLUDING ALL);
  CREATE SEQUENCE plain_id; ALTER TABLE plain ALTER id SET DEFAULT nextval('plain_id')`;

/** Creating tasks, compared with prepared INSERTs: one by one, and in batches as large as those of signalbox. */
const create: Row = {
  ids: ['B17'],
  measure: async (bench) => {
    const { scope, seconds } = bench;
    const database = await startDatabase(scope);
    const server = await startInstance(scope, database);
    const request = createPost(`${server.url}/api/tasks`, newTask);
    const text = await ask(request);
    await database.sql(prepare);
    const ours = toRate(bench, request);
    const batch = await measureBatch(database, ours, seconds);
    const insert = (size: number): string => {
      const rows = Array.from({ length: size }, () => `(1, 3, 1, '${text}')`);
      return `INSERT INTO plain (status, priority, version, body) VALUES ${rows.join(', ')};`;
    };
    const run = (size: number) => async (): Promise<number> => {
      const clients = Math.ceil(connections / size);
      return size * (await runPgbench(scope, database, insert(size), { seconds, clients }));
    };
    const row = { id: 'B17', work: 'POST /api/tasks, --store postgres' };
    const sides = { database, instances: [server], ours };
    return [
      await compare(
        bench,
        { ...sides, theirs: run(1) },
        { ...row, name: 'pgbench -M prepared, INSERT one by one', goals: [{ of: 'ratio', atLeast: 1 }] },
      ),
      await compare(
        bench,
        { ...sides, theirs: run(batch) },
        { ...row, name: `the same, ${batch} rows in an INSERT`, goals: [{ of: 'ratio', atLeast: 0.7 }] },
      ),
    ];
  },
};

/** How many tasks a transaction of signalbox has under load. */
const measureBatch = async (
  database: PostgresServer,
  ours: () => Promise<number>,
  seconds: number,
): Promise<number> => {
  const read = async (): Promise<[number, number]> => {
    const [row] = await database.sql<{ ids: string; writes: string }>(
      `SELECT last_id AS ids, (SELECT n_tup_upd FROM pg_stat_user_tables WHERE relid = 'signalbox.gate'::regclass) AS writes
        FROM signalbox.gate WHERE name = 'task'`,
    );
    return [Number(row?.ids), Number(row?.writes)];
  };
  const [before, beforeWrites] = await read();
  await ours();
  // Statistics follow within a second of the last transaction.
  await new Promise((resolve) => setTimeout(resolve, 1000 * Math.max(1, seconds)));
  const [after, afterWrites] = await read();
  return Math.min(connections, Math.max(1, Math.round((after - before) / (afterWrites - beforeWrites))));
};

const many = 100_000;

/** Reading random tasks over HTTP, compared with a prepared SELECT by primary key. */
const read: Row = {
  ids: ['B18'],
  measure: async (bench) => {
    const { scope, seconds } = bench;
    const database = await startDatabase(scope);
    const server = await startInstance(scope, database);
    await fillTasks(database.adminUrl, many);
    const ours = toRate(bench, { url: `${server.url}/api/tasks/[<number>]`, numbers: many });
    const script = `\\set id random(1, ${many})\nSELECT version, body FROM signalbox.task WHERE id = :id;`;
    const sides = {
      database,
      instances: [server],
      ours,
      theirs: () => runPgbench(scope, database, script, { seconds }),
    };
    const work = 'GET /api/tasks/{id}, random ids, --store postgres';
    const name = 'pgbench -M prepared, SELECT by random primary keys';
    return [await compare(bench, sides, { id: 'B18', work, name, goals: [{ of: 'ratio', atLeast: 0.8 }] })];
  },
};

const large = 1_000_000;

/** Lists of fifty tasks with their total at ten times as many, and a prepared SELECT of the same rows. */
const list: Row = {
  ids: ['B19'],
  measure: async (bench) => {
    const { scope, seconds } = bench;
    const database = await startDatabase(scope);
    await database.sql('CREATE DATABASE small OWNER signalbox');
    const [server, small] = [await startInstance(scope, database), await startInstance(scope, database, 'small')];
    await fillTasks(database.adminUrl, large);
    await fillTasks(database.url('small'), large / 10);
    const findings: Finding[] = [];
    for (const query of ['', '?status=Pending']) {
      const [ours, theirs] = [server, small].map(({ url }) => toRate(bench, { url: `${url}/api/tasks${query}` }));
      if (!ours || !theirs) throw new Error('no instances');
      const work = `GET /api/tasks${query}, 50 of 1,000,000, --store postgres`;
      const sides = { database, instances: [server, small], ours, theirs };
      const row = {
        id: 'B19',
        work,
        name: 'itself with a tenth of them',
        goals: [{ of: 'ratio' as const, atLeast: 0.95 }],
      };
      findings.push(await compare(bench, sides, row));
    }
    const script = `SELECT body FROM signalbox.task WHERE status = 1 ORDER BY id LIMIT 50;
SELECT counts FROM signalbox.gate WHERE name = 'task';`;
    const ours = toRate(bench, { url: `${server.url}/api/tasks?status=Pending` });
    const sides = {
      database,
      instances: [server],
      ours,
      theirs: () => runPgbench(scope, database, script, { seconds }),
    };
    const work = 'GET /api/tasks?status=Pending, 50 of 1,000,000, --store postgres';
    const name = 'pgbench -M prepared, SELECT of these rows and of their count';
    return [...findings, await compare(bench, sides, { id: 'B19', work, name, goals: [] })];
  },
};

/** Creating tasks with two instances on one database, compared with one of them. */
const instances: Row = {
  ids: ['B20'],
  measure: async (bench) => {
    const { scope } = bench;
    const database = await startDatabase(scope);
    const servers = [await startInstance(scope, database), await startInstance(scope, database)];
    const createOn = (used: readonly Server[]) => async (): Promise<number> => {
      const each = connections / used.length;
      const rates = used.map(({ url }) =>
        toRate(bench, { ...createPost(`${url}/api/tasks`, newTask), connections: each })(),
      );
      return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
    };
    const sides = { database, instances: servers, ours: createOn(servers), theirs: createOn(servers.slice(0, 1)) };
    const work = 'POST /api/tasks on two instances, --store postgres';
    return [await compare(bench, sides, { id: 'B20', work, name: 'on one of them', goals: [] })];
  },
};

export const postgresRows: readonly Row[] = [create, read, list, instances];
