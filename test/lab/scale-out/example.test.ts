import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/server/package-info.ts';
import { waitUntil } from '../../support/wait.ts';

const run = promisify(execFile);
const folder = join(packageRoot, 'examples', 'scale-out');
const state = join(tmpdir(), 'signalbox-scale-out');

const toSkip = (): string | false => {
  if (!existsSync('/usr/lib/postgresql')) return "Debian's postgresql is not installed";
  if (!existsSync('/usr/sbin/haproxy')) return 'haproxy is not installed';
  return existsSync(state) && 'the example runs already';
};

test('the example of several instances starts, loses nothing, and stops', { skip: toSkip() }, async (t) => {
  const child = spawn(process.execPath, [join(folder, 'start.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await waitUntil('the example runs', async () => output.includes('Ctrl+C'), 90_000);
  const { stdout } = await run(process.execPath, [join(folder, 'client.mjs'), 'http://127.0.0.1:8400', '2']);
  assert.match(
    stdout,
    /^operations \d\d+: .*\nattempts .*\{"\w+":\d+,"\w+":\d+\}\nlost 0\nduplicated 0\nreordered 0\n/,
  );
  child.kill('SIGTERM');
  await ended;
  assert.equal(existsSync(state), false);
});
