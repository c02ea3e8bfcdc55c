import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readHeartbeat } from '../heartbeats/support/heartbeats.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { fixtures } from './support/fixture.ts';

test('the first period of a heartbeat of 1.1.0 that was never pinged begins with the first start of a newer version', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  cpSync(join(fixtures, 'data-1.1.0', 'data'), dataDir, { recursive: true });
  const begun = Date.now();
  const day = 24 * 3_600_000;
  const dues: (string | null)[] = [];
  for (let start = 0; start < 2; start += 1) {
    const app = await startApp(t, { settings: { dataDir } });
    const token = await app.login('admin');
    await waitUntilPasses(async () => {
      const { state, dueAt } = await readHeartbeat(app, 'nightly', token);
      assert.equal(state, 'new');
      const due = Date.parse(dueAt ?? '');
      assert.ok(due > begun && due <= Date.now() + day, String(dueAt));
      dues[start] = dueAt;
    });
    const { json } = await app.request<{ data: { source: string }[] }>('GET', '/api/alerts/search?source=heartbeat*');
    assert.deepEqual(json.data, []);
    await app.close();
  }
  assert.equal(dues[1], dues[0]);
});
