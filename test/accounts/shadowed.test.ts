import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword } from '../../src/auth/password.ts';
import { secret } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import type { Running } from '../support/program.ts';
import { startReloadable } from '../support/reload.ts';
import { createUser, getToken, strong } from './support/accounts.ts';

const statusOf = async (server: Running, token: string): Promise<number> =>
  (await server.request('GET', '/api/users', { token })).status;

test("a user with the name of another user of the config file or console never gets that user's tokens, even after a restart", async (t) => {
  const variables = { SIGNALBOX_JWT_SECRET: secret };
  const settings = { dataDir: createFolder(t), adminPassword: strong };
  const first = await startReloadable(t, settings, variables);
  const admin = await getToken(first, 'admin');
  for (const [name, role] of [
    ['ben', 'Admin'],
    ['eve', 'Reader'],
  ] as const) {
    assert.equal((await createUser(first, admin, name, role)).status, 201);
  }
  const created = await getToken(first, 'ben');
  assert.equal(await statusOf(first, created), 200);
  const passwordHash = await hashPassword(`${strong} of the file`);
  const users = [
    { name: 'ben', role: 'Reader', passwordHash },
    { name: 'eve', role: 'Admin', passwordHash },
  ];
  await first.reload({ dataDir: settings.dataDir, users });
  assert.equal(await statusOf(first, created), 401);
  const configured = await getToken(first, 'eve', `${strong} of the file`);
  assert.equal(await statusOf(first, configured), 200);
  await first.reload(settings);
  assert.equal(await statusOf(first, configured), 401);
  const reader = await getToken(first, 'eve');
  assert.equal(await statusOf(first, reader), 403);

  await first.stop('SIGKILL');
  const second = await startReloadable(t, { dataDir: settings.dataDir, users }, variables);
  for (const token of [created, configured]) assert.equal(await statusOf(second, token), 401);
});
