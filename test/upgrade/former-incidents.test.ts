import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { fixtures, variables } from './support/fixture.ts';

test('incidents of 1.1.0 are read once and do not come back after a loss of the snapshot', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  cpSync(join(fixtures, 'data-1.1.0', 'data'), dataDir, { recursive: true });
  const before = readFileSync(join(dataDir, 'incidents.jsonl'), 'utf8');
  const args = ['--store', 'file', '--data-dir', dataDir];
  const count = async ({ request }: Awaited<ReturnType<typeof startProgram>>) =>
    (await request<{ total: number }>('GET', '/api/incidents?state=all')).json.total;
  const first = await startProgram(t, args, { variables });
  const total = await count(first);
  assert.ok(total > 5);
  await waitUntil('the incidents are marked as read', () => existsSync(join(dataDir, 'incidents.read')));
  await first.stop('SIGKILL');
  const second = await startProgram(t, args, { variables });
  assert.equal(await count(second), total);
  await second.stop();
  rmSync(join(dataDir, 'alerts.incidents.state'));
  const third = await startProgram(t, args, { variables });
  const left = await count(third);
  assert.ok(left < total, `${left} of ${total}`);
  assert.equal(readFileSync(join(dataDir, 'incidents.jsonl'), 'utf8'), before);
});
