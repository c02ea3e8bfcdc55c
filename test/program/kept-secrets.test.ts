import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { type Running, refusal, runCommand, startProgram } from '../support/program.ts';

const login = async ({ request }: Running, password: string): Promise<string> => {
  const { status, json } = await request('POST', '/api/auth/login', {
    body: { Username: 'admin', Password: password },
  });
  assert.equal(status, 200);
  return String(json['token']);
};

const isAccepted = async ({ request }: Running, token: string): Promise<boolean> =>
  (await request('GET', '/api/items', { token })).status === 200;

/** Prepares a program with a data folder for its passwords and key. */
const prepare = (t: TestContext) => {
  const folder = createFolder(t);
  const file = join(folder, 'data', 'secrets.json');
  const start = (variables = {}) => startProgram(t, ['--keep-secrets'], { cwd: folder, variables, bundled: false });
  return { folder, file, start };
};

test('keepSecrets creates passwords and the signing key once, so both are valid after a restart', async (t) => {
  const { file, start } = prepare(t);
  const first = await start();
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const text = readFileSync(file, 'utf8');
  const { adminPassword } = JSON.parse(text);
  const token = await login(first, adminPassword);
  assert.ok(first.output.stdout.includes(`\nPasswords of admin and reader: see ${file}\n`), first.output.stdout);
  assert.doesNotMatch(first.output.stdout + first.output.stderr, new RegExp(`${adminPassword}|jwtSecret is not set`));
  assert.equal((await first.stop()).code, 0);

  const second = await start();
  assert.equal(readFileSync(file, 'utf8'), text);
  assert.ok(await isAccepted(second, token));
  assert.ok(await isAccepted(second, await login(second, adminPassword)));
});

test('configured passwords, users and keys are used instead of kept ones', async (t) => {
  const { file, start } = prepare(t);
  const variables = { SIGNALBOX_ADMIN_PASSWORD: 'chosen', SIGNALBOX_JWT_SECRET: 'k'.repeat(32) };
  const program = await start(variables);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8'))), ['readerPassword']);
  assert.ok(program.output.stdout.includes(`\nPassword of reader: see ${file}\n`), program.output.stdout);
  assert.ok(await isAccepted(program, await login(program, 'chosen')));
});

test('without keepSecrets no secret is written', async (t) => {
  const cwd = createFolder(t);
  await (await startProgram(t, [], { cwd })).stop();
  assert.ok(existsSync(join(cwd, 'data')));
  assert.ok(!existsSync(join(cwd, 'data', 'secrets.json')));
});

test('check-config creates no secrets', async (t) => {
  const cwd = createFolder(t);
  const path = join(cwd, 'c.json');
  writeFileSync(path, '{"keepSecrets": true}', { mode: 0o600 });
  assert.equal((await runCommand(['check-config', 'c.json'], { cwd })).code, 0);
  assert.ok(!existsSync(join(cwd, 'data')));
});

for (const [what, text] of [
  ['damaged', '{"adminPassword": "x'],
  ['not an object', '[]'],
  ['an object with other values', '{"adminPassword": 5}'],
] as const) {
  test(`a file of secrets that is ${what} stops the start with one line and stays unchanged`, async (t) => {
    const folder = createFolder(t);
    const file = join(folder, 'secrets.json');
    writeFileSync(file, text);
    assert.equal(
      await refusal(['--keep-secrets', '--data-dir', folder], 1),
      `dataDir: ${file} is damaged; restore the file from a backup, or delete the file to create new passwords and a new signing key`,
    );
    assert.equal(readFileSync(file, 'utf8'), text);
  });
}

test('secrets that cannot be stored stop the start with one line', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, async () => {
  assert.match(await refusal(['--keep-secrets', '--data-dir', '/proc/none'], 1), /^dataDir: .*; choose another/);
});
