import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { adminToken } from '../support/outbox.ts';

const past = '2020-01-01T00:00:00';

/** Settings that a later version has stored, or 1.1.0 with a date in place of a schedule. */
const broken: [kind: string, name: string, value: unknown, reason: RegExp][] = [
  [
    'heartbeat',
    'backup',
    { schedule: past, timeZone: 'UTC', uuid: randomUUID() },
    /schedule must be a cron expression/,
  ],
  [
    'silence',
    randomUUID(),
    {
      matching: { match: { source: 'a' } },
      startsAt: 0,
      endsAt: null,
      recurring: { schedule: past, timeZone: 'UTC', minutes: 60 },
      comment: '',
      createdBy: 'anna',
    },
    /schedule must be a cron expression/,
  ],
  ['watch', 'moon', { name: 'moon', type: 'moon' }, /there is no type "moon"/],
  ['watch', 'disk', { name: 'disk', type: 'disk' }, /needs limit/],
  ['watch', 'number', 7, /there is no type/],
  ['key', 'scopes', { sha256: '0'.repeat(64), scopes: 'alerts:read' }, /this version cannot read the stored key/],
  ['user', 'ben', { role: 'Owner' }, /role must be Admin or Reader/],
  ['destination', 'hook', { type: 'pigeon', url: 'http://127.0.0.1:9/' }, /./],
  ['intake', 'newer', { message: 7 }, /./],
  ['override', randomUUID(), { rotation: 'primary' }, /must be strings/],
];

interface Shown {
  kind: string;
  name: string;
  reason: string;
}

test('an unreadable setting is kept, listed and reported with the reason, and can be replaced or deleted', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const log = await openJournal({ directory: dataDir, name: 'settings', minFreeBytes: 0 });
  for (const [kind, name, value] of broken) await log.append({ kind, name, value, by: 'anna', at: Date.now() });
  await log.close();
  const app = await startApp(t, {
    settings: {
      dataDir,
      destinations: [{ name: 'anna', type: 'webhook', url: 'http://127.0.0.1:9/', notify: 'incidents' }],
      rotations: [{ name: 'primary', members: ['anna'], handover: '0 9 * * 1', timeZone: 'UTC' }],
    },
  });
  const token = await adminToken(app);
  const list = async (): Promise<Shown[]> => {
    const { status, json } = await app.request<{ data: Shown[] }>('GET', '/api/settings/broken', { token });
    assert.equal(status, 200);
    return json.data;
  };
  const found = await list();
  const { json: health } = await app.request<{ problems: { text: string }[] }>('GET', '/api/status', { token });
  const texts = health.problems.map(({ text }) => text);
  for (const [kind, name, , reason] of broken) {
    const shown = found.find((each) => each.kind === kind && each.name === name);
    assert.match(shown?.reason ?? '', reason, `${kind} ${name}`);
    assert.ok(
      texts.includes(`The ${kind} ${name} cannot be read and has no effect: ${shown?.reason}`),
      `${shown?.reason}: ${texts.join('; ')}`,
    );
  }
  const replaced = await app.request('PUT', '/api/heartbeats/backup', { token, body: { schedule: '0 3 * * *' } });
  assert.ok([200, 201].includes(replaced.status), JSON.stringify(replaced.json));
  const hook = { type: 'webhook', url: 'http://127.0.0.1:9/' };
  const again = await app.request('PUT', '/api/destinations/hook', { token, body: hook });
  assert.ok([200, 201].includes(again.status), JSON.stringify(again.json));
  for (const { kind, name } of await list()) {
    const path = `/api/settings/broken/${kind}/${name}`;
    assert.equal((await app.request('DELETE', path, { token })).status, 200, path);
    assert.equal((await app.request('DELETE', path, { token })).status, 404);
  }
  assert.deepEqual(await list(), []);
});
