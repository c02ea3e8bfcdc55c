import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { refusal } from '../support/program.ts';

const skip = process.platform === 'win32' && 'Windows has no file modes';

const warningsOf = async (t: TestContext, settings: object): Promise<string[]> => {
  const app = await startApp(t, { settings: { profiles: ['alerts'], ...settings } });
  await app.close();
  return app.warnings;
};

/** Returns a data folder that a server has used. */
const createData = async (t: TestContext): Promise<string> => {
  const dataDir = join(createFolder(t), 'data');
  const { request, close } = await startApp(t, { settings: { profiles: ['alerts'], dataDir } });
  await request('POST', '/api/alert', { body: { message: 'a' } });
  await close();
  return dataDir;
};

test('a data folder to which others can write stops startup, and a data folder that others can read causes a warning', {
  skip,
}, async (t) => {
  const dataDir = await createData(t);
  const args = ['--data-dir', dataDir];
  assert.deepEqual(await warningsOf(t, { dataDir }), []);
  chmodSync(dataDir, 0o755);
  assert.deepEqual(await warningsOf(t, { dataDir }), [
    `other accounts can read the data folder ${dataDir}: run chmod o-rx on the folder`,
  ]);
  for (const mode of [0o777, 0o1777, 0o703]) {
    chmodSync(dataDir, mode);
    const problem = await refusal(['--profiles', 'alerts', ...args], 1);
    assert.equal(problem, `other accounts can write to the data folder ${dataDir}: run chmod o-w on the folder`);
  }
});

test('files in the data folder that others can access are checked, too', { skip }, async (t) => {
  const dataDir = await createData(t);
  const args = ['--data-dir', dataDir];
  const log = join(dataDir, 'alerts.jsonl');
  chmodSync(log, 0o666);
  assert.deepEqual(await warningsOf(t, { dataDir }), []);
  chmodSync(dataDir, 0o711);
  const problem = await refusal(['--profiles', 'alerts', ...args], 1);
  assert.equal(problem, `other accounts can write to ${log}: run chmod go-w on the file`);
  chmodSync(log, 0o644);
  assert.deepEqual(await warningsOf(t, { dataDir }), [`other accounts can read ${log}: run chmod o-r on the file`]);
});

test('a TLS key or secret file that others can read causes a warning, and a file to which others can write is refused', {
  skip,
}, async (t) => {
  const folder = createFolder(t);
  const { cert, key } = writeCertificate(folder, 'box');
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, 'a-token', { mode: 0o600 });
  chmodSync(key, 0o600);
  const destination = { name: 'phone', type: 'ntfy', url: 'http://127.0.0.1:1/topic', secretFile };
  const settings = { tlsCert: cert, tlsKey: key, destinations: [destination], dataDir: join(folder, 'data') };
  const config = writeConfig(folder, settings);
  assert.deepEqual(await warningsOf(t, settings), []);
  for (const path of [key, secretFile]) chmodSync(path, 0o644);
  assert.deepEqual(await warningsOf(t, settings), [
    `other accounts can read tlsKey ${key}: run chmod o-r on the file`,
    `other accounts can read secretFile ${secretFile}: run chmod o-r on the file`,
  ]);
  for (const path of [key, secretFile]) chmodSync(path, 0o602);
  assert.deepEqual((await refusal(['--config', config], 1)).split('\n'), [
    `other accounts can write to tlsKey ${key}: run chmod go-w on the file`,
    `other accounts can write to secretFile ${secretFile}: run chmod go-w on the file`,
  ]);
});

test('a password in the flag --store is refused without being shown, and the variable may contain it', async () => {
  const advice =
    '--store must not contain a password, because other accounts can read the command line: set SIGNALBOX_STORE instead';
  for (const address of [
    'postgres://user:SECRET@127.0.0.1:1/none',
    'postgresql://:SECRET@127.0.0.1:1/none',
    'postgres://127.0.0.1:1/none?password=SECRET',
  ]) {
    const text = await refusal(['--store', address], 1);
    assert.ok(text.includes(advice), text);
    assert.doesNotMatch(text, /SECRET/);
  }
  const variables = { SIGNALBOX_STORE: 'postgres://user:SECRET@127.0.0.1:1/none' };
  const withVariable = await refusal(['--profiles', 'tasks', '--port', 'x'], 1, variables);
  assert.doesNotMatch(withVariable, /SECRET|--store/);
  const withoutPassword = await refusal(['--store', 'postgres://user@127.0.0.1:1/none', '--port', 'x'], 1);
  assert.doesNotMatch(withoutPassword, /must not contain a password/);
});
