import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ValueRefusal } from '../../src/lib/expected-errors.ts';
import type { Collection } from '../../src/storage/postgres/batch.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { atEnd } from '../support/scope.ts';

const skip = toSkipPostgres();

/** Collection that stores strings unchanged. */
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

test('a change with a value that PostgreSQL does not accept is refused alone, and the database stays available', {
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

test('a login with a name that PostgreSQL does not accept is refused, and the server stays ready', {
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
