import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openJournal } from '../../src/storage/journal/journal.ts';
import type { LogRecord } from '../../src/storage/journal/line.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { adminToken } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';
import { createUser, getToken } from './support/accounts.ts';

const MiB = 1024 * 1024;
const hour = 60 * 60 * 1000;

/** Number of silences that fill the 64 MiB that version 1.1.0 allowed for all settings together. */
const fullCount = 1050;

const idOf = (index: number): string => `0199${String(index).padStart(4, '0')}-7c11-7b5e-a1f0-3d0a7d6e2c56`;

/** Returns a silence of nearly 64 KiB, in the form that 1.1.0 stores. */
const toLargeSilence = (index: number, endsAt: number, now: number): LogRecord => {
  const matchers = Array.from({ length: 50 }, (_, each) => {
    return { name: `label${each}`, value: `${index} ${'x'.repeat(1200)}`, isRegex: false, isEqual: true };
  });
  const value = { matching: { matchers }, startsAt: now - 2 * hour, endsAt, comment: '', createdBy: 'reader' };
  return { kind: 'silence', name: idOf(index), value, by: 'reader', at: now - 2 * hour };
};

/** Creates a data folder of 1.1.0 with large silences, in groups of fifty. */
const createFolderWith = async (t: TestContext, count: number, endsAt: number): Promise<string> => {
  const directory = createFolder(t);
  const log = await openJournal({ directory, name: 'settings', minFreeBytes: 0, sync: false });
  const now = Date.now();
  for (let from = 0; from < count; from += 50) {
    await log.appendAll(Array.from({ length: 50 }, (_, index) => toLargeSilence(from + index, endsAt, now)));
  }
  await log.close();
  return directory;
};

/** Creates users, keys, heartbeats, watches and destinations, and takes away rights. */
const administer = async (app: TestApp): Promise<void> => {
  const token = await adminToken(app);
  const expectStatus = async (status: number, method: string, path: string, body?: object): Promise<void> => {
    const answer = await app.request(method, path, { token, ...(body && { body }) });
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.json)}`);
  };
  await createUser(app, token, 'ben', 'Admin');
  const theirs = await getToken(app, 'ben');
  await expectStatus(201, 'POST', '/api/keys', { name: 'sender', scopes: ['alerts:write'] });
  await expectStatus(201, 'PUT', '/api/heartbeats/backup', { period: 3600 });
  await expectStatus(201, 'PUT', '/api/destinations/hook', { type: 'webhook', url: 'http://127.0.0.1:9/' });
  await expectStatus(200, 'DELETE', '/api/keys/sender');
  assert.equal((await app.request('DELETE', '/api/sessions', { token: theirs })).status, 200);
  await expectStatus(200, 'PUT', '/api/users/ben', { role: 'Reader' });
  await expectStatus(200, 'DELETE', '/api/users/ben');
};

const createSilence = async (app: TestApp) =>
  app.request<{ id: string }>('POST', '/api/silences', {
    token: await adminToken(app),
    body: { match: { source: 'shop' }, endsAt: new Date(Date.now() + hour).toISOString(), comment: 'deploy' },
  });

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

test('a server starts with a data folder of 1.1.0 full of silences, deletes expired ones, and everything can be administered', async (t) => {
  const dataDir = await createFolderWith(t, fullCount, Date.now() - hour);
  const app = await startApp(t, { settings: { dataDir, access: 'login' } });
  await administer(app);
  const { status, json } = await createSilence(app);
  assert.equal(status, 201, JSON.stringify(json));
  await app.close();
  const again = await startApp(t, { settings: { dataDir, access: 'login' } });
  const { json: found } = await again.request('GET', `/api/silences/${json.id}`, { token: await adminToken(again) });
  assert.equal(found['id'], json.id);
  await waitUntil('the folder has become small', () => sizeOf(dataDir) < 100 * MiB);
});

test('silences that use their whole limit leave room for users, keys, heartbeats and destinations, and can be ended', async (t) => {
  const dataDir = await createFolderWith(t, 300, Date.now() + 100 * hour);
  const app = await startApp(t, { settings: { dataDir, access: 'login' } });
  await administer(app);
  const refused = await createSilence(app);
  assert.equal(refused.status, 409);
  assert.match(JSON.stringify(refused.json), /The silences have reached their limit of 16 MiB: end some first/);
  const token = await adminToken(app);
  for (let index = 0; index < 60; index += 20) {
    const ends = Array.from({ length: 20 }, (_, each) =>
      app.request('DELETE', `/api/silences/${idOf(index + each)}`, { token }),
    );
    for (const { status } of await Promise.all(ends)) assert.equal(status, 200);
  }
  assert.equal((await createSilence(app)).status, 201);
});

const createTooMany = async (
  app: TestApp,
  toRequest: (index: number) => [method: string, path: string, body: object],
) => {
  const token = await adminToken(app);
  const answers = await Promise.all(
    Array.from({ length: 32 }, async (_, index) => {
      const [method, path, body] = toRequest(index);
      return app.request(method, path, { token, body });
    }),
  );
  return answers.map(({ status }) => status);
};

for (const [where, skip, toStore] of [
  ['files', false, async () => ({})],
  ['PostgreSQL', toSkipPostgres(), async () => ({ store: await createDatabase(), timeZone: 'UTC' })],
] as const) {
  test(`32 simultaneous requests do not exceed the limit of destinations in ${where}, and of 32 equal ones one creates a destination`, {
    skip,
  }, async (t) => {
    const app = await startApp(t, { settings: await toStore() });
    const hook = { type: 'webhook', url: 'http://127.0.0.1:9/' };
    for (let round = 0; round < 3; round += 1) {
      await createTooMany(app, (index) => ['PUT', `/api/destinations/d${round}-${index}`, hook]);
    }
    const statuses = await createTooMany(app, (index) => ['PUT', `/api/destinations/last-${index}`, hook]);
    assert.equal(statuses.filter((status) => status === 201).length, 4);
    assert.equal(statuses.filter((status) => status === 409).length, 28);
    const watch = { name: 'site', type: 'tcp', host: '127.0.0.1', port: 9 };
    const same = await createTooMany(app, () => ['POST', '/api/watches', watch]);
    assert.deepEqual(same.toSorted(), [201, ...Array.from({ length: 31 }, () => 409)]);
  });
}
