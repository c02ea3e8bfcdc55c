import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { runCommand, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { getToken, logIn, strong } from './support/accounts.ts';

const create = (cwd: string, name: string, ...args: string[]) =>
  runCommand(['create-user', name, ...args], { cwd, input: `${strong}\n` });

test('create-user stores a user while the server is stopped, and the next start shows no setup link', async (t) => {
  const cwd = createFolder(t);
  const created = await create(cwd, 'anna');
  assert.deepEqual([created.code, created.stdout, created.stderr], [0, '', 'signalbox: user anna can log in\n']);
  assert.equal((await create(cwd, 'ben', '--role', 'Reader')).code, 0);
  for (const name of readdirSync(join(cwd, 'data'))) {
    assert.equal(statSync(join(cwd, 'data', name)).mode & 0o777, 0o600, name);
  }
  const server = await startProgram(t, [], { cwd });
  assert.doesNotMatch(server.output.stdout, /setup|Password/);
  const [anna, ben] = [await logIn(server, 'anna'), await logIn(server, 'ben')];
  assert.deepEqual([anna.json['role'], ben.json['role']], ['Admin', 'Reader']);
  const { json } = await server.request<{ data: { by: string }[] }>('GET', '/api/audit', {
    token: String(anna.json['token']),
  });
  assert.deepEqual(
    json.data.map(({ by }) => by),
    ['signalbox', 'signalbox'],
  );

  const refused = await create(cwd, 'eve');
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /a running server uses this data directory: create users in the console, or stop the server/,
  );
});

test('create-user refuses unusable names and passwords, and changes no user', async (t) => {
  const cwd = createFolder(t);
  await create(cwd, 'anna');
  const weak = await runCommand(['create-user', 'ben'], { cwd, input: 'short\n' });
  assert.deepEqual([weak.code, weak.stderr], [1, 'signalbox: password must have at least 12 characters\n']);
  const refused: [args: string[], code: number, message: RegExp][] = [
    [['anna'], 1, /There is already a user anna/],
    [['Anna'], 1, /There is already a user anna/],
    [['a b'], 1, /name must consist/],
    [['ben', '--role', 'Owner'], 2, /--role must be Admin or Reader/],
    [['ben', '--data-dir', '/dev/null/x'], 1, /dataDir/],
  ];
  for (const [[name = '', ...args], code, message] of refused) {
    const ended = await create(cwd, name, ...args);
    assert.equal(ended.code, code, name);
    assert.match(ended.stderr, message);
  }
  const configured = await runCommand(['create-user', 'admin'], {
    cwd,
    input: `${strong}\n`,
    variables: { SIGNALBOX_ADMIN_PASSWORD: 'x' },
  });
  assert.match(configured.stderr, /the settings already define a user admin/);
});

test('create-user stores a user in a database, and running instances know the user within seconds', {
  skip: toSkipPostgres(),
}, async (t) => {
  const cwd = createFolder(t);
  const variables = {
    SIGNALBOX_STORE: String(await createDatabase(t)),
    SIGNALBOX_TIME_ZONE: 'UTC',
    SIGNALBOX_JWT_SECRET: 'x'.repeat(32),
    SIGNALBOX_ADMIN_PASSWORD: 'a',
    SIGNALBOX_READER_PASSWORD: 'b',
  };
  const server = await startProgram(t, [], { cwd, variables });
  const created = await runCommand(['create-user', 'anna'], { cwd, variables, input: strong });
  assert.equal(created.code, 0, created.stderr);
  const token = await getToken(server, 'admin', 'a');
  await waitUntil('the server knows her', async () => {
    return (await server.request('GET', '/api/users/anna', { token })).status === 200;
  });
  assert.equal((await logIn(server, 'anna')).status, 200);
});
