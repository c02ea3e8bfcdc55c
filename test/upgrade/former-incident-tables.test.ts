import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createEmptyDatabase } from '../support/postgres/shared-server.ts';
import { type Running, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { fixtures, variables } from './support/fixture.ts';

const guide = join(packageRoot, 'docs', 'guides', 'upgrading.md');

interface Page {
  total: number;
  data: { number: number; title: string; version: number }[];
}

test('incidents in the tables of 1.1.0 are migrated, its instances store only alerts, and a downgrade is possible', {
  skip: toSkipPostgres(),
}, async (t) => {
  const store = await createEmptyDatabase();
  const sql = (text: string) => runSql(store, text);
  await sql(readFileSync(join(fixtures, 'data-1.1.0', 'postgres.sql'), 'utf8'));
  const former = (await sql('SELECT 1 AS one FROM signalbox.incident')).length;
  assert.ok(former > 5);
  const start = () => startProgram(t, [], { variables: { ...variables, SIGNALBOX_STORE: store } });
  const list = async ({ request }: Running) =>
    (await request<Page & Record<string, unknown>>('GET', '/api/incidents?state=all')).json;

  const first = await start();
  assert.equal((await list(first)).total, former);
  await assert.rejects(sql('SELECT body FROM signalbox.incident'), { code: '42703' });
  const holder = randomUUID();
  const lease = `INSERT INTO signalbox.lease AS held (name, holder, until) VALUES ('notifications', '${holder}', now())
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE held.holder = excluded.holder OR held.until < now() RETURNING name`;
  assert.deepEqual(await sql(lease), []);
  const body = { level: 'ERROR', message: 'of 1.1.0', status: 'firing', time: new Date().toISOString() };
  await sql(`WITH gate AS (UPDATE signalbox.gate SET last_id = last_id + 1 WHERE name = 'alert' RETURNING last_id)
    INSERT INTO signalbox.alert (seq, id, at, instance, level, body)
    SELECT last_id, gen_random_uuid(), ${Date.now()}, 'older', 'ERROR', '${JSON.stringify(body)}' FROM gate`);
  await waitUntil('the alert has an incident', async () => (await list(first)).total === former + 1);
  const { data } = await list(first);
  assert.equal(data[0]?.title, 'of 1.1.0');
  await first.stop();

  const [, goBack = ''] = /```sql\n([^`]+)```/.exec(readFileSync(guide, 'utf8')) ?? [];
  await sql(goBack);
  const rows = await sql('SELECT body FROM signalbox.incident');
  assert.equal(rows.length, former);
  assert.deepEqual(await sql(lease), [{ name: 'notifications' }]);

  const again = await start();
  await waitUntil('the alert has an incident again', async () => (await list(again)).total === former + 1);
  assert.deepEqual(
    (await list(again)).data.map(({ number, title }) => `${number} ${title}`),
    data.map(({ number, title }) => `${number} ${title}`),
  );
});

test('a damaged incident in the tables of 1.1.0 loses only itself', { skip: toSkipPostgres() }, async (t) => {
  const store = await createEmptyDatabase();
  const sql = (text: string) => runSql(store, text);
  await sql(readFileSync(join(fixtures, 'data-1.1.0', 'postgres.sql'), 'utf8'));
  const former = (await sql('SELECT 1 AS one FROM signalbox.incident')).length;
  await sql('UPDATE signalbox.incident SET body = left(body, 40) WHERE number = 2');
  const { request } = await startProgram(t, [], { variables: { ...variables, SIGNALBOX_STORE: store } });
  await waitUntil('the other incidents are listed', async () => {
    const { status, json } = await request<Page & Record<string, unknown>>('GET', '/api/incidents?state=all');
    return status === 200 && json.total === former - 1 && json.data.every(({ number }) => number !== 2);
  });
});
