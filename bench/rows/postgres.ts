import { setTimeout } from 'node:timers/promises';
import type { PostgresServer } from '../../test/support/postgres/server.ts';
import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import type { LoadRequest } from '../support/load.ts';
import { connections, fillTasks, runPgbench, startDatabase, startInstance } from '../support/postgres.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { takeTurns } from '../support/rounds.ts';
import { newTask } from '../support/tasks.ts';
import type { Bench, Row } from './row.ts';

/** Takes a rate: ours, or that of the comparison. */
type Measure = () => Promise<number>;

/** Compares two rates, also by the processor time of the processes. */
const compare = async (
  { rounds, seconds }: Bench,
  pids: number[],
  [ours, theirs]: [Measure, Measure],
  row: Pick<Finding, 'id' | 'work' | 'goals'> & { name: string },
): Promise<Finding> => {
  const cpuMs: [number[], number[]] = [[], []];
  const withCpu = (side: 0 | 1, measure: Measure) => async (): Promise<number> => {
    const before = readCpuMs(...pids);
    const rate = await measure();
    cpuMs[side].push((readCpuMs(...pids) - before) / rate);
    return rate;
  };
  for (const warmUp of [ours, theirs]) await warmUp();
  const [mine = [], figures = []] = await takeTurns(rounds, [withCpu(0, ours), withCpu(1, theirs)]);
  const cpuRatios = cpuMs[1].map((ms, round) => ms / (cpuMs[0][round] ?? Number.NaN));
  const { name, ...rest } = row;
  const measured = { unit: '/s', ours: mine, beside: { name, figures }, cpuRatios, rounds: `${rounds} × ${seconds} s` };
  return { ...rest, ...measured };
};

const toRate = ({ load, seconds }: Bench, request: LoadRequest): Measure => {
  return async () => (await load({ connections, ...request }, seconds)).perSecond;
};

const atLeast = (ratio: number): Finding['goals'] => [{ of: 'ratio', atLeast: ratio }];

/** Creating tasks, compared with prepared INSERTs: one by one, and in batches as large as those of signalbox. */
const create: Row = {
  ids: ['B17'],
  measure: async (bench) => {
    const { scope, seconds } = bench;
    const database = await startDatabase(scope);
    const { url, pid } = await startInstance(scope, database);
    const request = createPost(`${url}/api/tasks`, newTask);
    const body = await ask(request);
    await database.sql(`CREATE TABLE plain (LIKE signalbox.task INCLUDING ALL);
      CREATE SEQUENCE plain_id; ALTER TABLE plain ALTER id SET DEFAULT nextval('plain_id')`);
    const ours = toRate(bench, request);
    const batch = await measureBatch(database, ours);
    const insert = (size: number) => async (): Promise<number> => {
      const rows = Array.from({ length: size }, () => `(1, 3, 1, '${body}')`).join(', ');
      const script = `INSERT INTO plain (status, priority, version, body) VALUES ${rows};`;
      return size * (await runPgbench(scope, database, script, { seconds, clients: Math.ceil(connections / size) }));
    };
    const row = { id: 'B17', work: 'POST /api/tasks, --store postgres' };
    const one = { ...row, name: 'pgbench -M prepared, INSERT one by one', goals: atLeast(1) };
    const many = { ...row, name: `pgbench -M prepared, ${batch} rows in an INSERT`, goals: atLeast(0.7) };
    const pids = [database.pid(), pid];
    return [
      await compare(bench, pids, [ours, insert(1)], one),
      await compare(bench, pids, [ours, insert(batch)], many),
    ];
  },
};

/** How many tasks signalbox writes at once under load: each batch updates the gate once. */
const measureBatch = async (database: PostgresServer, ours: Measure): Promise<number> => {
  const read = async () => {
    const [row] = await database.sql<{ ids: string; writes: string }>(
      `SELECT last_id AS ids, (SELECT n_tup_upd FROM pg_stat_user_tables WHERE relid = 'signalbox.gate'::regclass)
        AS writes FROM signalbox.gate WHERE name = 'task'`,
    );
    return { ids: Number(row?.ids), writes: Number(row?.writes) };
  };
  const before = await read();
  await ours();
  // Statistics follow within a second of the last transaction.
  await setTimeout(1500);
  const after = await read();
  return Math.min(connections, Math.max(1, Math.round((after.ids - before.ids) / (after.writes - before.writes))));
};

const many = 100_000;

/** Reading random tasks over HTTP, compared with a prepared SELECT by primary key. */
const read: Row = {
  ids: ['B18'],
  measure: async (bench) => {
    const { scope, seconds } = bench;
    const database = await startDatabase(scope);
    const { url, pid } = await startInstance(scope, database);
    await fillTasks(database.adminUrl, many);
    const ours = toRate(bench, { url: `${url}/api/tasks/[<number>]`, numbers: many });
    const script = `\\set id random(1, ${many})\nSELECT version, body FROM signalbox.task WHERE id = :id;`;
    const select = () => runPgbench(scope, database, script, { seconds });
    const row = { id: 'B18', work: 'GET /api/tasks/{id}, random ids, --store postgres', goals: atLeast(0.8) };
    const name = 'pgbench -M prepared, SELECT by random primary keys';
    return [await compare(bench, [database.pid(), pid], [ours, select], { ...row, name })];
  },
};

const large = 1_000_000;

/** Lists of fifty tasks with their total, at ten times as many. */
const list: Row = {
  ids: ['B19'],
  measure: async (bench) => {
    const database = await startDatabase(bench.scope);
    await database.sql('CREATE DATABASE small OWNER signalbox');
    const servers = [await startInstance(bench.scope, database), await startInstance(bench.scope, database, 'small')];
    await fillTasks(database.adminUrl, large);
    await fillTasks(database.url('small'), large / 10);
    const pids = [database.pid(), ...servers.map(({ pid }) => pid)];
    const findings: Finding[] = [];
    for (const query of ['', '?status=Pending']) {
      const rates = servers.map(({ url }) => toRate(bench, { url: `${url}/api/tasks${query}` }));
      const work = `GET /api/tasks${query}, 50 of 1,000,000, --store postgres`;
      const row = { id: 'B19', work, name: 'itself with a tenth of them', goals: atLeast(0.95) };
      findings.push(await compare(bench, pids, rates as [Measure, Measure], row));
    }
    return findings;
  },
};

/** Creating tasks with two instances on one database, compared with one of them. */
const instances: Row = {
  ids: ['B20'],
  measure: async (bench) => {
    const database = await startDatabase(bench.scope);
    const servers = [await startInstance(bench.scope, database), await startInstance(bench.scope, database)];
    const createOn = (count: number): Measure => {
      const used = servers.slice(0, count).map(({ url }) => {
        return toRate(bench, { ...createPost(`${url}/api/tasks`, newTask), connections: connections / count });
      });
      return async () => (await Promise.all(used.map((rate) => rate()))).reduce((sum, rate) => sum + rate, 0);
    };
    const row = {
      id: 'B20',
      work: 'POST /api/tasks on two instances, --store postgres',
      name: 'on one of them',
      goals: [],
    };
    const pids = [database.pid(), ...servers.map(({ pid }) => pid)];
    return [await compare(bench, pids, [createOn(2), createOn(1)], row)];
  },
};

/** pgbench counts the seconds in which it connects. */
const fewestSeconds = 4;

export const postgresRows: readonly Row[] = [create, read, list, instances].map(({ ids, measure }) => ({
  ids,
  measure: (bench) => measure({ ...bench, seconds: Math.max(fewestSeconds, bench.seconds) }),
}));
