import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { command, refusal, startProgram } from '../support/program.ts';

const skip = process.platform === 'linux' ? false : 'files of /proc and named pipes are those of Linux';

test('conflicts between settings of different features are reported together', async (t) => {
  const path = join(createFolder(t), 'c.json');
  const user = {
    name: 'ada',
    role: 'Admin',
    passwordHash: '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
  };
  const settings = {
    jwtSecret: 'short',
    seed: join(path, '..', 'none.json'),
    publicDir: '/none',
    users: [user, user],
  };
  writeFileSync(path, JSON.stringify({ ...settings, adminPassword: 'x' }));
  const printed = await refusal(['--config', path], 1);
  for (const problem of [
    /have no effect when users is set: remove both\neach user needs a different name\nthe passwordHash of user "ada" has/,
    /jwtSecret must be at least 32 bytes long, not 5/,
    /cannot read the seed file \S+none\.json: the file does not exist/,
    /publicDir \/none is not a folder/,
  ]) {
    assert.match(printed, problem);
  }
  const mounts = { '/a': ['T', 'L'], '/b': ['T', 'L'] };
  writeFileSync(path, JSON.stringify({ mounts }));
  const clashes = await refusal(['--config', path, '--data-dir', createFolder(t)], 1);
  assert.match(clashes, /on mount \/a\n.*on mount \/b/);
});

test('files of the settings that never end, or pipes without a writer, are refused', { skip }, async (t) => {
  const folder = createFolder(t);
  const [path, pipe] = [join(folder, 'c.json'), join(folder, 'pipe')];
  execFileSync('mkfifo', [pipe]);
  assert.equal(
    await refusal(['--config', '/dev/zero'], 1),
    'cannot read the config file /dev/zero: the file is larger than 256 MiB',
  );
  assert.match(await refusal(['--config', pipe], 1), /^cannot read the config file .*pipe: the file is not valid JSON/);
  const { cert, key } = writeCertificate(folder, 'own');
  const hook = { name: 'hook', type: 'webhook', url: 'http://127.0.0.1:9/' };
  const endless = ['/dev/zero', '/proc/self/pagemap'];
  for (const file of endless) {
    for (const [settings, problem] of [
      [{ tlsCert: cert, tlsKey: file }, `cannot read tlsKey ${file}: the file is larger than 1 MiB`],
      [{ tlsCert: file, tlsKey: key }, `cannot read tlsCert ${file}: the file is larger than 1 MiB`],
      [{ seed: file }, `cannot read the seed file ${file}: the file is larger than 256 MiB`],
      [
        { destinations: [{ ...hook, tokenFile: file }] },
        `destination "hook": cannot read tokenFile ${file}: the file is larger than 1 MiB`,
      ],
      [
        { destinations: [{ ...hook, headers: { 'x-key': { file } } }] },
        `destination "hook": cannot read the file of the header x-key, ${file}: the file is larger than 1 MiB`,
      ],
      [
        {
          store: `postgres://localhost/a?sslmode=verify-full&sslrootcert=${file}`,
          jwtSecret: 'x'.repeat(32),
          timeZone: 'UTC',
        },
        'sslrootcert cannot be read: the file is larger than 1 MiB',
      ],
    ] as const) {
      writeFileSync(path, JSON.stringify(settings));
      const printed = await refusal(['--config', path, '--data-dir', createFolder(t)], 1);
      assert.ok(printed.includes(problem), printed);
    }
  }
});

test('a config file may be a pipe, as in <(command)', { skip }, async (t) => {
  const pipe = join(createFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const text = JSON.stringify({ port: 70_000 });
  const writer = spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, pipe], { stdio: 'ignore' });
  const written = once(writer, 'exit');
  assert.match(await refusal(['--config', pipe], 1), /^port in .*pipe must be a whole number from 0 to 65535/);
  await written;
});

test('empty mounts are rejected', async (t) => {
  const path = join(createFolder(t), 'c.json');
  writeFileSync(path, '{"mounts": {}}');
  assert.equal(await refusal(['--config', path], 1), 'mounts is empty: add at least one base path with profiles');
});

test('a deleted working directory is reported in one line', async (t) => {
  const cwd = join(createFolder(t), 'gone');
  mkdirSync(cwd);
  const script = 'rmdir "$1" && shift && exec "$@" --port 0';
  const child = spawn('/bin/sh', ['-c', script, 'sh', cwd, ...command], { cwd });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(stderr, 'signalbox: the working directory was deleted; change to an existing directory\n');
  assert.equal(code, 1);
});

test('a config file to which others can write is rejected, and a config file with secrets that others can read causes a warning', async (t) => {
  const folder = createFolder(t);
  const path = join(folder, 'c.json');
  writeFileSync(path, '{"profiles": ["A"], "adminPassword": "hush"}');
  chmodSync(path, 0o666);
  assert.equal(
    await refusal(['--config', path], 1),
    `other accounts can write to the config file ${path}: run chmod go-w on the file`,
  );
  chmodSync(path, 0o644);
  const { stderr } = await (await startProgram(t, ['--config', path], { cwd: folder })).stop();
  assert.match(stderr, /"level":40,.*"msg":"other accounts can read the secrets in the config file /);
});
