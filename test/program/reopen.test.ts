import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/app.ts';
import { startProgram } from '../support/program.ts';

test('on SIGHUP the alert log goes on in a new file where the old one was moved away', async (t) => {
  const cwd = createFolder(t);
  const { url, child } = await startProgram(t, ['--profiles', 'X', '--data-dir', '.'], { cwd });
  const log = join(cwd, 'alerts.jsonl');
  const send = (message: string) =>
    fetch(`${url}/api/alert`, { method: 'POST', body: JSON.stringify({ message }) });
  await send('before');
  renameSync(log, `${log}.1`);
  child.kill('SIGHUP');
  const deadline = Date.now() + 10_000;
  while (!existsSync(log) && Date.now() < deadline) await fetch(`${url}/ready`);
  assert.equal((await send('after')).status, 200);
  assert.match(readFileSync(`${log}.1`, 'utf8'), /"message":"before"/);
  assert.match(readFileSync(log, 'utf8'), /"message":"after"/);
});
