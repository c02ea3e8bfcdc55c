import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import { refusal, runCommand } from '../support/program.ts';

const skip = toSkipPostgres();

/** Writes a config file for instances that share a database, with seed records. */
const write = (t: TestContext, store: string, changes: object = {}): string => {
  const folder = createFolder(t);
  const seed = join(folder, 'seed.json');
  writeFileSync(seed, JSON.stringify({ tasks: [{ Title: 'planted' }], items: [{ name: 'planted' }] }));
  const shared = { jwtSecret: 'k'.repeat(32), adminPassword: 'a', readerPassword: 'b', timeZone: 'UTC' };
  const dataDir = join(folder, 'data');
  return writeConfig(folder, { ...shared, dataDir, store, seed, ...changes });
};

/** Returns the output of check-config for valid settings. */
const check = async (path: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['check-config', path]);
  assert.deepEqual([code, stderr], [0, '']);
  const [first, ...others] = stdout.split('\n');
  assert.equal(first, `${path} is valid`);
  return others.join('\n');
};

/** Lists schemas and tables that do not belong to PostgreSQL itself. */
const listCreated = (server: PostgresServer): Promise<unknown[]> =>
  server.sql(`SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_|^(information_schema|public)$'
    UNION SELECT relname FROM pg_class WHERE relnamespace::regnamespace::text !~ '^pg_|^information_schema$'`);

test('check-config leaves an empty database empty, so that other settings can still be chosen', { skip }, async (t) => {
  const server = await startPostgres(t);
  const printed = await check(write(t, server.url(), { timeZone: 'Asia/Tokyo', jwtSecret: 'another '.repeat(8) }));
  assert.deepEqual(await listCreated(server), []);
  assert.equal(printed, 'the next start will create the tables in the database\n');

  const app = await startApp(t, { flags: { config: write(t, server.url()) } });
  assert.equal((await app.request('GET', '/api/tasks')).json['total'], 1);
});

test('check-config adds nothing to a database that is in use', { skip }, async (t) => {
  const server = await startPostgres(t, { version: 15 });
  const path = write(t, server.url());
  await (await startApp(t, { flags: { config: path } })).close();
  const read = async () => [
    await server.sql('SELECT * FROM signalbox.writer'),
    await server.sql('SELECT * FROM signalbox.gate ORDER BY name'),
    await server.sql('SELECT * FROM signalbox.shared'),
  ];
  const before = await read();
  assert.equal(await check(path), 'the tables in the database are up to date\n');
  assert.deepEqual(await read(), before);
});

test('check-config reports that a start would upgrade older tables, and leaves them unchanged', { skip }, async (t) => {
  const server = await startPostgres(t);
  await server.sql(`CREATE SCHEMA signalbox AUTHORIZATION signalbox; SET ROLE signalbox;
    CREATE TABLE signalbox.schema (version int, readable_by int); INSERT INTO signalbox.schema VALUES (0, 0)`);
  const printed = await check(write(t, server.url()));
  assert.match(printed, /^the next start will upgrade the tables in the database from version 0 to version \d+\n$/);
  assert.deepEqual(await server.sql('SELECT * FROM signalbox.schema'), [{ version: 0, readable_by: 0 }]);
});

test('check-config refuses a database that a start would refuse', { skip }, async (t) => {
  const server = await startPostgres(t);
  const url = server.url();
  const cannot = 'store: the database cannot be used: ';
  const refuse = (store: string, changes: object = {}): Promise<string> =>
    refusal(['check-config', write(t, store, changes)], 1);
  assert.match(await refuse(url.replace(/:[^:@]+@/, ':wrong@')), new RegExp(`^${cannot}the password is wrong`));
  assert.match(await refuse(server.url('none')), new RegExp(`^${cannot}the database does not exist`));
  await server.sql('ALTER DATABASE signalbox OWNER TO postgres');
  assert.match(await refuse(url), new RegExp(`^${cannot}the user has too few rights in the database`));
  await server.sql('ALTER DATABASE signalbox OWNER TO signalbox');
  await (await startApp(t, { flags: { config: write(t, url) } })).close();
  assert.match(await refuse(url, { jwtSecret: 'x'.repeat(32) }), /use another jwtSecret: set the same jwtSecret here$/);
  assert.match(await refuse(url, { timeZone: 'Asia/Tokyo' }), /use another time zone: set timeZone to UTC$/);
  await server.sql('UPDATE signalbox.schema SET version = 1000, readable_by = 1000');
  assert.match(
    await refuse(url),
    /the tables have version 1000, but this version of signalbox supports only tables up to version \d+: upgrade signalbox$/,
  );
});

test('check-config warns about an unreachable database, for which a start would wait', async (t) => {
  const path = write(t, `postgres://me:geheim@127.0.0.1:${await findFreePort()}/database`);
  const { code, stdout, stderr } = await runCommand(['check-config', path]);
  assert.deepEqual([code, stdout], [0, `${path} is valid\n`]);
  const [line = '', ...others] = stderr.trimEnd().split('\n');
  assert.deepEqual(others, []);
  assert.match(
    JSON.parse(line).msg,
    /^the database was not checked; 127\.0\.0\.1:\d+: the connection was refused \(ECONNREFUSED\); check the host and port/,
  );
  assert.doesNotMatch(stderr, /geheim/);
});
