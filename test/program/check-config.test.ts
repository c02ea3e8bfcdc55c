import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { createFolder } from '../support/folder.ts';
import { command, refusal, runCommand } from '../support/program.ts';

const example = join(packageRoot, 'examples', 'signalbox.json');

const write = (t: TestContext, settings: object): string => {
  const path = join(createFolder(t), 'c.json');
  writeFileSync(path, JSON.stringify(settings));
  return path;
};

test('check-config accepts the shipped example and writes no data', async (t) => {
  const cwd = createFolder(t);
  const path = join(cwd, 'c.json');
  copyFileSync(example, path);
  chmodSync(path, 0o600);
  const { code, stdout, stderr } = await runCommand(['check-config', 'c.json'], { cwd });
  assert.deepEqual([code, stdout, stderr], [0, 'c.json is valid\n', '']);
  assert.deepEqual(readdirSync(cwd), ['c.json']);
});

test('check-config reports the problems that would prevent startup, with exit code 1', async (t) => {
  const unknown = write(t, { prot: 1, publicDir: '/none' });
  assert.equal(
    await refusal(['check-config', unknown], 1),
    `${unknown} has no setting called "prot"; did you mean "port"?\npublicDir /none is not a folder`,
  );
  const clash = write(t, { profiles: ['T', 'L'] });
  assert.match(await refusal(['check-config', clash], 1), /^profiles tasks and simple-tasks both define /);
  const runner = write(t, { profiles: ['commands'], commandRunner: 'powershell', powershellPath: '/none' });
  assert.match(await refusal(['check-config', runner], 1), /^commandRunner is powershell, but there is no PowerShell/);
});

test('check-config reads the environment variables like a normal start', async (t) => {
  const path = write(t, { jwtPreviousSecret: 'x'.repeat(32) });
  assert.equal(await refusal(['check-config', path], 1), 'jwtPreviousSecret has no effect without jwtSecret: set both');
  const { code } = await runCommand(['check-config', path], { variables: { SIGNALBOX_JWT_SECRET: 'y'.repeat(32) } });
  assert.equal(code, 0);
});

test('check-config without a temporary folder names the variable to set', async (t) => {
  assert.equal(
    await refusal(['check-config', write(t, {})], 1, { TMPDIR: '/nonexistent' }),
    'cannot create a temporary folder in /nonexistent: set TMPDIR to a folder to which this account can write',
  );
});

test('a misspelt variable is reported together with later problems', async (t) => {
  const printed = await refusal(['check-config', write(t, { publicDir: '/none' })], 1, { SIGNALBOX_PROT: '1' });
  assert.match(printed, /^publicDir .*\nthe variable SIGNALBOX_PROT .*; did you mean SIGNALBOX_PORT\?$/);
});

test('check-config warns about profiles that need a token if there is no login', async (t) => {
  const warn = async (settings: object) => (await runCommand(['check-config', write(t, settings)])).stderr;
  assert.match(
    await warn({ profiles: ['commands', 'monitoring'] }),
    /"level":40,.*"msg":"nobody can use commands: no token can be issued; add the profile login, /,
  );
  const usable = [
    { profiles: ['commands', 'login'] },
    { profiles: ['commands'], executeAuth: 'none' },
    { profiles: ['commands'], jwtSecret: 'x'.repeat(32) },
  ];
  for (const settings of usable) assert.doesNotMatch(await warn(settings), /nobody can use/);
});

const hasScript = spawnSync('script', ['--version']).status === 0;

test('log lines in a terminal are formatted for people', {
  skip: hasScript ? false : 'script(1) is not installed',
}, (t) => {
  const path = write(t, { host: '0.0.0.0' });
  const line = `'${command.join("' '")}' check-config '${path}'`;
  const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8', timeout: 20_000 });
  const lines = stdout.split('\r\n');
  assert.match(
    lines[0] ?? '',
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}Warning: the server listens on 0\.0\.0\.0, and \d+ paths need no token/,
  );
  assert.deepEqual(lines.slice(1), [`${path} is valid`, '']);
});
