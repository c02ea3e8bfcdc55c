import assert from 'node:assert/strict';
import { get } from 'node:http';
import { longTest } from '../support/long.ts';
import { watchMemory } from '../support/memory.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startProgram } from '../support/program.ts';
import { toStoreFlags } from '../support/store-flags.ts';
import { variables } from '../support/transfer.ts';

const skip = toSkipPostgres();

/** Adds tasks of 1 MiB to a new database. */
const addLargeTasks = async (url: string, count: number): Promise<void> => {
  const body = `'{"Id":' || n || ',"Title":"t","Description":"' || repeat('d', 1048576) ||
    '","Priority":"Low","Status":"Pending","CreatedAt":"2026-01-31T09:30:00"}'`;
  await runSql(url, `INSERT INTO signalbox.task SELECT n, 0, 0, 1, ${body} FROM generate_series(1, ${count}) AS n`);
  await runSql(
    url,
    `UPDATE signalbox.gate SET last_id = ${count}, counts = array_fill(${count}, ARRAY[25]) WHERE name = 'task'`,
  );
};

/** Resolves to the status once the whole response has been read and discarded. */
const readAll = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });

longTest(
  '50 clients that list tasks of 1 MiB take little memory, and a short list is answered meanwhile',
  {
    skip: skip || (process.platform !== 'linux' && 'memory is read from /proc'),
  },
  async (t) => {
    const store = await createDatabase();
    const { url, child, request } = await startProgram(t, [...toStoreFlags(store), '--time-zone', 'UTC'], {
      variables: { ...variables, SIGNALBOX_READER_PASSWORD: 'battery staple' },
    });
    assert.equal((await request('GET', '/api/tasks')).status, 200);
    await addLargeTasks(store, 200);
    const readGrowth = watchMemory(child.pid ?? 0);
    const lists = Promise.all(Array.from({ length: 50 }, () => readAll(`${url}/api/tasks`)));
    const begin = performance.now();
    assert.equal((await request('GET', '/api/tasks?limit=1')).status, 200);
    const took = performance.now() - begin;
    assert.ok(took < 3000, `a short list took ${took} ms`);
    const statuses = await lists;
    const growth = readGrowth();
    t.diagnostic(`memory grew by ${Math.round(growth)} MiB`);
    assert.ok(statuses.every((status) => status === 200 || status === 503));
    assert.ok(statuses.includes(200));
    assert.ok(growth < 600, `memory grew by ${Math.round(growth)} MiB`);
  },
);
