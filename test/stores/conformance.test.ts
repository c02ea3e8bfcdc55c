import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';

const folder = fileURLToPath(new URL('../conformance', import.meta.url));

/** Those that say something about tasks, items and simple tasks. */
const files = readdirSync(folder)
  .filter((name) => /^(tasks|items|simple-tasks|protected|seed|bodies|answers|mounts).*\.test\.js$/.test(name))
  .map((name) => join(folder, name));

/** Runs the conformance tests with a store; returns what was printed, and the exit code. */
const runConformance = async (store: string): Promise<{ code: unknown; output: string }> => {
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=2', ...files], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, SIGNALBOX_TEST_STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  return { code, output };
};

const assertPasses = async (store: string): Promise<void> => {
  const { code, output } = await runConformance(store);
  assert.equal(code, 0, output);
  assert.ok(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > 170, output.slice(-500));
};

test('the store file passes the conformance tests of tasks and items', () => assertPasses('file'));

test('the store postgres passes the conformance tests of tasks and items', { skip: toSkipPostgres() }, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off', max_connections: 300 } });
  await assertPasses(server.adminUrl);
});
