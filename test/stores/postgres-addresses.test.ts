import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPgBouncer, toSkipPgBouncer } from '../support/postgres/pgbouncer.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase, shareServer, shareSockets } from '../support/postgres/shared-server.ts';
import { refusal } from '../support/program.ts';
import { toStoreFlags } from '../support/store-flags.ts';
import { variables } from '../support/transfer.ts';

const skip = toSkipPostgres();

const assertWorks = async (t: TestContext, store: string): Promise<void> => {
  const app = await startApp(t, { settings: { store, timeZone: 'UTC' } });
  assert.equal((await app.request('POST', '/api/tasks', { body: { Title: 'x' } })).status, 201, store);
};

/** Returns the line that the program prints when it refuses to start. */
const refuse = (t: TestContext, store: string): Promise<string> =>
  refusal([...toStoreFlags(store), '--time-zone', 'UTC', '--data-dir', createFolder(t)], 1, {
    ...variables,
    SIGNALBOX_READER_PASSWORD: 'battery staple',
  });

const unusable = 'store: the database cannot be used:';

test('an address can name a folder of Unix sockets, and any characters in names and passwords', {
  skip,
}, async (t) => {
  const server = await shareServer();
  const [{ port }, sockets] = [server, shareSockets()];
  await server.sql(`CREATE ROLE "we%ird@u" LOGIN PASSWORD 'p@ss%w:/rd?'`);
  await server.sql(`CREATE DATABASE "my db/@" OWNER "we%ird@u"`);
  const user = 'signalbox:test-signalbox';
  await assertWorks(t, `postgres://${user}@/signalbox?host=${sockets}:${port}`);
  await assertWorks(t, `postgres://${user}@${encodeURIComponent(sockets)}:${port}/signalbox`);
  const other = 'we%25ird%40u:p%40ss%25w%3A%2Frd%3F';
  await assertWorks(t, `postgres://${other}@127.0.0.1:${port}/my%20db%2F%40`);
});

test('an address can require a server that accepts changes, as in other clients', { skip }, async (t) => {
  const server = await shareServer();
  for (const value of ['read-write', 'primary', 'any']) {
    await assertWorks(t, `${server.url()}?target_session_attrs=${value}`);
  }
});

test('an unusable address is refused in one line that does not show the password', { skip }, async (t) => {
  const server = await shareServer();
  const { port } = server;
  await server.sql(`CREATE ROLE guest LOGIN PASSWORD 'guest'`);
  for (const password of ['se@cret', 's/ecret', '12/secret', 's@e/cret', 's?ecret']) {
    const message = await refuse(t, `postgres://signalbox:${password}@127.0.0.1:${port}/signalbox`);
    assert.match(message, /^store: the address must have the form .*%40/, password);
    assert.doesNotMatch(message, /cret/);
  }
  assert.equal(
    await refuse(t, `postgres://guest:guest@127.0.0.1:${port}/signalbox`),
    `${unusable} the user has too few rights in the database: make the user the owner of the database, or grant CREATE on the database`,
  );
});

test('an upgrade of tables that another user owns is refused with the reason', { skip }, async (t) => {
  const server = await shareServer();
  // No other test uses this database.
  const url = new URL(await createDatabase());
  const database = url.pathname.slice(1);
  await runSql(url.href, 'UPDATE signalbox.schema SET version = 10');
  await server.sql(`CREATE ROLE tenant LOGIN PASSWORD 'tenant'; GRANT CREATE ON DATABASE "${database}" TO tenant`);
  await runSql(
    url.href,
    'GRANT USAGE, CREATE ON SCHEMA signalbox TO tenant; GRANT ALL ON ALL TABLES IN SCHEMA signalbox TO tenant',
  );
  url.username = 'tenant';
  url.password = 'tenant';
  assert.match(await refuse(t, url.href), new RegExp(`^${unusable} this version must upgrade the tables`));
});

test('PgBouncer refuses a wrong password or database in one line', { skip: toSkipPgBouncer() }, async (t) => {
  const url = await startPgBouncer(t, await shareServer());
  assert.equal(
    await refuse(t, url.replace('test-signalbox', 'other')),
    `${unusable} the password is wrong: correct the password in the address`,
  );
  assert.equal(
    await refuse(t, `${url}x`),
    `${unusable} the database does not exist: create the database, or correct the address`,
  );
});
