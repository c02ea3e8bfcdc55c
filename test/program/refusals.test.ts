import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRefusal } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runProgram, startProgram } from '../support/program.ts';

test('control characters of a config file are escaped in messages, and NUL in a path is refused', async (t) => {
  const path = join(createFolder(t), 'c.json');
  const user = { name: 'ada', role: 'Admin', passwordHash: 'x', '\u001b[31mz\n': 1 };
  writeFileSync(path, JSON.stringify({ users: [user], dataDir: 'a\0b', publicDir: 'a\nb', seed: '\0' }));
  const printed = await refusal(['--config', path], 1);
  assert.match(printed, /^dataDir in \S+ must be a non-empty string without NUL characters, not "a\\u0000b"$/m);
  assert.match(printed, /^seed in \S+ must be a non-empty string without NUL characters, /m);
  assert.match(printed, /unknown keys; remove \\u\{1b\}\[31mz\\u\{a\}$/m);
  assert.match(printed, /^publicDir \S+a\\u\{a\}b is not a folder$/m);
});

test('a long list of problems is complete when the output is a pipe', async (t) => {
  const path = join(createFolder(t), 'c.json');
  const settings = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`unknown${index}`, 1]));
  writeFileSync(path, JSON.stringify(settings));
  const { code, stderr } = await runProgram(['--config', path]);
  assert.deepEqual([code, stderr.split('\n').length], [1, 5002]);
});

test('a misspelt key is refused and a misspelt variable causes a warning, each with the nearest name', async (t) => {
  const path = join(createFolder(t), 'c.json');
  writeFileSync(path, '{"prot": 1}');
  assert.equal(await refusal(['--config', path], 1), `${path} has no setting called "prot"; did you mean "port"?`);
  const variables = { SIGNALBOX_ADMIN_PASWORD: 'hush' };
  const { stderr } = await (await startProgram(t, ['--profiles', 'A'], { variables })).stop();
  assert.match(
    stderr,
    /"level":40,.*"msg":"[^"]* SIGNALBOX_ADMIN_PASWORD .*; did you mean SIGNALBOX_ADMIN_PASSWORD\?"/,
  );
  assert.doesNotMatch(stderr, /hush/);
});

test('a config file that is missing, malformed or has unknown keys is rejected', async (t) => {
  const folder = createFolder(t);
  const path = join(folder, 'c.json');
  assert.match(await refusal(['--config', path], 1), /^cannot read the config file .*: the file does not exist$/);
  writeFileSync(path, '{"port": 0,');
  assert.match(
    await refusal(['--config', path], 1),
    /^cannot read the config file .*: the file is not valid JSON at line 1, column 12: expected a name in double quotes$/,
  );
  writeFileSync(path, '{"prot": 1, "mounts": {"/": []}}');
  assert.match(
    await refusal(['--config', path], 1),
    /has no setting called "prot".*\nmounts in .* at \/ must not be empty$/,
  );
});

test('invalid values, conflicts and missing files are reported together, one per line', async (t) => {
  const folder = createFolder(t);
  const path = join(folder, 'c.json');
  const seed = join(folder, 'seed.json');
  writeFileSync(seed, '{\n  "tasks": [,]\n}');
  writeFileSync(path, JSON.stringify({ colour: 1, users: [{ name: 'ada', more: 1, passwordHash: 'x' }], seed }));
  assert.deepEqual(
    (await refusal(['--config', path, '--port', 'x', '--profiles', 'T', '--public-dir', path], 1)).split('\n'),
    [
      `${path} has no setting called "colour"`,
      '--port must be a whole number from 0 to 65535, not "x"',
      `users in ${path} at 0 must have role`,
      `users in ${path} at 0 has unknown keys; remove more`,
      `users in ${path} at 0.passwordHash must be the output of \`signalbox hash-password\``,
      `cannot read the seed file ${seed}: the file is not valid JSON at line 2, column 13: expected a value or "]"`,
      `publicDir ${path} is not a folder`,
    ],
  );
});

test('a required but missing PowerShell prevents startup, with advice', async (t) => {
  const refuse = (powershellPath: string) =>
    startRefusal(t, { settings: { profiles: ['X'], commandRunner: 'powershell', powershellPath } });
  assert.equal(
    await refuse('/nonexistent/pwsh'),
    'commandRunner is powershell, but there is no PowerShell at /nonexistent/pwsh: ' +
      'install PowerShell, set powershellPath, or set commandRunner to native',
  );
  assert.equal(await refuse('pwsh'), 'powershellPath must be an absolute path, not "pwsh"');
});

test('users that cannot log in prevent startup', async (t) => {
  const none = { adminPassword: undefined, readerPassword: undefined };
  const user = {
    name: 'ada',
    role: 'Admin',
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
  };
  const refuse = (users: unknown[], others: Record<string, unknown> = none) =>
    startRefusal(t, { settings: { profiles: ['A'], ...others, users } });
  assert.match(await refuse([{ ...user, role: 'Root' }]), /users in .* at 0\.role /);
  assert.match(await refuse([{ ...user, passwordHash: 'plain' }]), /users in .* at 0\.passwordHash /);
  assert.equal(await refuse([user, user]), 'each user needs a different name');
  assert.match(await refuse([user], { adminPassword: 'x' }), /have no effect when users is set/);
  assert.match(
    await startRefusal(t, { settings: { profiles: ['A'], readerPassword: 'x'.repeat(129) } }),
    /^the password of reader must be at most 128 bytes/,
  );
});

test('a port in use, an address of another machine and an unknown host prevent startup', async (t) => {
  const { url } = await startProgram(t, ['--profiles', 'L'], { cwd: createFolder(t) });
  const { port } = new URL(url);
  const args = ['--profiles', 'L', '--port', port];
  assert.equal(
    await refusal(args, 1),
    `cannot listen on host "127.0.0.1", port ${port}: the port is in use; choose another port with --port`,
  );
  assert.match(await refusal(['--profiles', 'L', '--host', '192.0.2.1'], 1), /this machine does not have this address/);
  assert.match(
    await refusal(['--profiles', 'L', '--host', 'no such host'], 1),
    /the host name is unknown|cannot listen/,
  );
});

test('a data directory that cannot be created or written prevents startup', async (t) => {
  const folder = createFolder(t);
  writeFileSync(join(folder, 'file'), '');
  assert.match(await refusal(['--profiles', 'X', '--data-dir', join(folder, 'file', 'data')], 1), /file\/data/);
  const settings = { profiles: ['X'], dataDir: '/proc/signalbox' };
  assert.match(await startRefusal(t, { settings }), /\/proc\/signalbox/);
});

test('a public folder that is missing, or contains a link that leaves it, prevents startup', async (t) => {
  const folder = createFolder(t);
  mkdirSync(join(folder, 'linked'));
  symlinkSync('/etc/passwd', join(folder, 'linked', 'out'));
  assert.match(
    await startRefusal(t, { settings: { profiles: ['L'], publicDir: join(folder, 'linked') } }),
    /^publicDir contains a link that leads outside the folder: remove .*\/linked\/out$/,
  );
  assert.match(
    await refusal(['--profiles', 'L', '--public-dir', join(folder, 'pages')], 1),
    /^publicDir .*pages is not a folder$/,
  );
});
