import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { listMessages, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { dayMs } from '../../../lib/units.ts';
import { createId, toLineStart, toRecordLine } from '../../../storage/journal/line.ts';
import { unlimitedNotice } from './retention.ts';

/** Adds a closed log file with a single alert stored `days` days ago. */
const addOldFile = async (dataDir: string, days: number): Promise<string> => {
  const at = new Date(Date.now() - days * dayMs);
  const record = {
    timestamp: '',
    source: '',
    level: '',
    message: 'old',
    hostname: '',
    receivedAt: '',
    time: at.toISOString(),
  };
  const path = join(dataDir, 'alerts.00000001.jsonl');
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, toRecordLine(toLineStart(record, createId(at.getTime())), 1));
  await utimes(path, at, at);
  return path;
};

test('by default a new log keeps alerts for 400 days', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const first = await startApp(t, { settings: { dataDir } });
  assert.ok(!first.notices.includes(unlimitedNotice));
  await first.close();
  const [young, old] = [await addOldFile(dataDir, 399), join(dataDir, 'old')];
  const second = await startApp(t, { settings: { dataDir } });
  await sendAlert(second, { message: 'new' });
  assert.deepEqual(await listMessages(second), ['old', 'new']);
  await second.close();
  cpSync(young, old);
  rmSync(join(dataDir, 'alerts.jsonl'));
  const path = await addOldFile(dataDir, 401);
  const third = await startApp(t, { settings: { dataDir } });
  await waitUntil(`deleted, of ${await readdir(dataDir)}`, () => !existsSync(path));
  assert.ok(!third.notices.includes(unlimitedNotice));
});

test('a log without a limit keeps all alerts until alertsRetainDays is set, and each start says so', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const path = await addOldFile(dataDir, 4000);
  for (const _ of [1, 2]) {
    const app = await startApp(t, { settings: { dataDir } });
    assert.ok(app.notices.includes(unlimitedNotice));
    assert.deepEqual(await listMessages(app), ['old']);
    await app.close();
  }
  assert.equal(readFileSync(join(dataDir, 'alerts.retain-days'), 'utf8'), '0\n');
  const limited = await startApp(t, { settings: { dataDir, alertsRetainDays: 400 } });
  assert.ok(!limited.notices.includes(unlimitedNotice));
  await waitUntil('deleted', () => !existsSync(path));
});
