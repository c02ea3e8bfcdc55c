import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { runCommand } from '../support/program.ts';

test('an export reads a database of an older version and leaves it unchanged', {
  skip: toSkipPostgres(),
}, async (t) => {
  const store = await createDatabase(t);
  const app = await startApp(t, { settings: { store, timeZone: 'UTC' } });
  await app.request('POST', '/api/tasks', { body: { Title: 'from 1.0' } });
  await app.close();
  // These are the tables of version 1.0.0.
  await runSql(
    store,
    `DROP TABLE signalbox.setting, signalbox.session, signalbox.key_use, signalbox.heartbeat, signalbox.heartbeat_state,
      signalbox.incident_snapshot, signalbox.incident_event, signalbox.incident, signalbox.lease;
    DELETE FROM signalbox.gate WHERE name IN ('incident', 'setting', 'heartbeat');
    UPDATE signalbox.schema SET version = 1, readable_by = 1`,
  );
  const listTables = () =>
    runSql<object>(
      store,
      `SELECT tablename AS name, (SELECT version FROM signalbox.schema) AS version FROM pg_tables
        WHERE schemaname = 'signalbox' ORDER BY 1`,
    );
  const before = await listTables();
  const { code, stdout, stderr } = await runCommand(['export'], {
    cwd: createFolder(t),
    variables: { SIGNALBOX_STORE: store },
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /"Title":"from 1\.0"/);
  assert.deepEqual(await listTables(), before);
});
