import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pino from 'pino';
import { ValueRefusal } from '../../src/lib/expected-errors.ts';
import type { Collection } from '../../src/storage/postgres/batch.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntilPasses } from '../support/wait.ts';

const skip = toSkipPostgres();

/** Stores texts as they are. */
const texts: Collection<string, string> = {
  name: 'simple_task',
  read: () => [],
  decide: (changes, _rows, gate) => ({
    decisions: changes.map((result) => ({ result })),
    statements: changes.map((text) => {
      gate.lastId += 1;
      return { text: 'INSERT INTO signalbox.simple_task (id, body) VALUES ($1, $2)', values: [gate.lastId, text] };
    }),
  }),
};

test('a change of which PostgreSQL does not take a value is refused alone, and the database counts as working', {
  skip,
}, async (t) => {
  const failures: unknown[] = [];
  const refused: unknown[] = [];
  const observer = {
    report: (failure: unknown) => void failures.push(failure),
    onRefused: (error: unknown) => void refused.push(error),
    onCommit: () => undefined,
  };
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(await createDatabase(t), identity, common, observer);
  database.begin();
  atEnd(t, () => database.close());
  await database.isReady();
  await assert.rejects(async () => database.write(texts, 'a\0b'), ValueRefusal);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => database.write(texts, index === 7 ? '\0' : `text ${index}`)),
  );
  assert.deepEqual(
    outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
    [7],
  );
  await assert.rejects(
    database.query({ text: 'SELECT body FROM signalbox.simple_task WHERE body = $1', values: ['\0'] }),
    ValueRefusal,
  );
  assert.deepEqual(failures, []);
  assert.equal(refused.length, 2);
  assert.equal(database.failure, undefined);
});

test('a login with a name that PostgreSQL does not take is refused, and the server stays ready', {
  skip,
}, async (t) => {
  const app = await startApp(t, { settings: { store: await createDatabase(t), timeZone: 'UTC' } });
  for (const Username of ['a\0b', '\ud800', 'x'.repeat(100_000)]) {
    const { status } = await app.request('POST', '/api/auth/login', { body: { Username, Password: 'wrong' } });
    assert.ok([400, 401, 429].includes(status), `${status}`);
  }
  assert.equal((await app.request('GET', '/readyz')).status, 200);
  assert.equal((await app.request('POST', '/api/tasks', { body: { Title: 'still works' } })).status, 201);
});

test('an alert whose incident PostgreSQL refuses is reported once, and others become incidents', {
  skip,
}, async (t) => {
  const store = await createDatabase(t);
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
  const app = await startApp(t, { settings: { store, timeZone: 'UTC' }, log });
  const alter = (text: string) => runSql(store, `ALTER TABLE signalbox.incident ${text}`);
  await alter("ADD CONSTRAINT refused CHECK (title NOT LIKE 'refused%')");
  try {
    const send = async (titles: readonly string[]): Promise<void> => {
      const body = titles.map((title) => ({ message: title, source: title, level: 'ERROR', key: title }));
      for (const one of body) assert.equal((await app.request('POST', '/api/alert', { body: one })).status, 200);
    };
    const waitForTitles = (titles: readonly string[]) =>
      waitUntilPasses(async () => {
        const { json } = await app.request<{ data: { title: string }[] }>('GET', '/api/incidents');
        assert.deepEqual(json.data.map(({ title }) => title).sort(), titles);
      });
    await send(['first', 'refused', 'second', 'refused too', 'third']);
    await waitForTitles(['first', 'second', 'third']);
    await send(['fourth']);
    await waitForTitles(['first', 'fourth', 'second', 'third']);
    const reports = lines.map((line) => JSON.parse(line) as { msg: string; alert?: string });
    assert.deepEqual(
      reports.map(({ msg }) => msg),
      Array.from({ length: 2 }, () => 'incidents: the database refuses the incident of an alert'),
    );
    assert.ok(reports.every(({ alert }) => alert !== undefined));
    assert.equal((await app.request('GET', '/readyz')).status, 200);
  } finally {
    await alter('DROP CONSTRAINT refused');
  }
});
