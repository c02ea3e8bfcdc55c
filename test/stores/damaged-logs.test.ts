import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHeartbeat, ping, readHeartbeat } from '../heartbeats/support/heartbeats.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { adminToken } from '../support/outbox.ts';

const readConcerns = async (app: TestApp): Promise<string[]> => {
  const { json } = await app.request<{ problems: { area: string; text: string }[] }>('GET', '/api/status', {
    token: await adminToken(app),
  });
  return json.problems.filter(({ area }) => area === 'log').map(({ text }) => text);
};

/** Changes the lines of a log. */
const edit = (path: string, change: (lines: string[]) => string[]): void =>
  writeFileSync(path, change(readFileSync(path, 'utf8').split('\n')).join('\n'));

const start = (t: Parameters<typeof startApp>[0], dataDir: string) => startApp(t, { settings: { dataDir } });

test('health shows the file and place of a damaged line and a removed record of each log, and the other records count', async (t) => {
  const dataDir = createFolder(t);
  const app = await start(t, dataDir);
  const token = await adminToken(app);
  const { uuid } = await createHeartbeat(app, token, 'job');
  for (const name of ['one', 'two', 'three']) {
    await app.request('POST', '/api/keys', { token, body: { name, scopes: ['alerts:read'] } });
  }
  await app.request('DELETE', '/api/keys/one', { token });
  await createHeartbeat(app, token, 'later');
  for (const body of ['first', 'second', 'third', 'fourth']) await ping(app.url, uuid, { method: 'POST', body });
  for (const message of ['first', 'second', 'third']) await app.request('POST', '/api/alert', { body: { message } });
  await app.close();
  // After a kill, no snapshot has been saved.
  rmSync(join(dataDir, 'heartbeats.state'));

  const [settings, heartbeats, alerts] = ['settings', 'heartbeats', 'alerts'].map((name) =>
    join(dataDir, `${name}.jsonl`),
  );
  edit(settings ?? '', (lines) => lines.filter((line) => !line.includes('"value":null')));
  let place = 0;
  edit(heartbeats ?? '', (lines) => {
    const index = lines.findIndex((line) => line.includes('second'));
    place = lines.slice(0, index).join('\n').length + (index > 0 ? 1 : 0);
    return lines.flatMap((line) =>
      line.includes('third') ? [] : [line.includes('second') ? line.replace('second', 'SECOND') : line],
    );
  });
  edit(alerts ?? '', (lines) => lines.map((line) => line.replace('"second"', '"SECOND"')));

  const again = await start(t, dataDir);
  assert.equal((await readHeartbeat(again, 'job')).state, 'up');
  assert.equal((await readHeartbeat(again, 'later')).state, 'new');
  await again.request('GET', '/api/alerts');
  const concerns = await readConcerns(again);
  const has = (pattern: RegExp) =>
    assert.ok(
      concerns.some((text) => pattern.test(text)),
      `${pattern}: ${concerns}`,
    );
  has(/^The settings log is damaged: record \d+ is missing in settings\.jsonl$/);
  has(new RegExp(`^The heartbeat log is damaged: the line at byte ${place} of heartbeats\\.jsonl cannot be read$`));
  has(/^The heartbeat log is damaged: records? .* missing in heartbeats\.jsonl$/);
  has(/^The alert log is damaged: the line at byte \d+ of alerts\.jsonl cannot be read$/);
});
