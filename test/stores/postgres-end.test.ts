import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { StoreUnavailable } from '../../src/lib/expected-errors.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';

test('a read that begins while the database is being closed opens no connection', {
  skip: toSkipPostgres(),
}, async (t) => {
  const url = await createDatabase(t);
  const open = () => {
    const identity = { instance: randomUUID(), name: 'test', version: '0' };
    const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
    return new Database(url, identity, common, {
      report: () => undefined,
      onRefused: () => undefined,
      onCommit: () => undefined,
    });
  };
  const [database, observer] = [open(), open()];
  await database.query({ text: 'SELECT 1' });
  const late = database.close().then(() => database.query({ text: 'SELECT 1' }));
  await assert.rejects(late, StoreUnavailable);
  const text = 'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()';
  await waitUntil('only this connection is left', async () => (await observer.query({ text }))[0]?.['count'] === 1);
  await observer.close();
});
