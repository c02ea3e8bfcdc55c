import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { listCommands } from '../../src/cli/commands.ts';
import { isFlag, textForm, toFlagName, toVariableName } from '../../src/config/names.ts';
import { features } from '../../src/features/index.ts';
import { programVersion } from '../../src/server/package-info.ts';
import { settingsSchema } from '../support/app.ts';
import { command, runCommand } from '../support/program.ts';

const { stdout: page, code, stderr } = await runCommand(['man-page']);

/** Skips a test if the program is missing, except in CI. */
const needs = (program: string): { skip: string | false } => ({
  skip: !process.env['CI'] && spawnSync(program, ['--version']).error ? `${program} is not installed` : false,
});

const format = (program: string, args: string[]): string => {
  const formatted = spawnSync(program, args, {
    input: page,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
  });
  assert.deepEqual([formatted.status, formatted.stderr], [0, ''], program);
  return formatted.stdout;
};

test('the manual page has its sections in the usual order', () => {
  assert.deepEqual([code, stderr], [0, '']);
  const sections = [...page.matchAll(/^\.SH (.+)$/gm)].map(([, title]) => title);
  assert.deepEqual(sections, [
    'NAME',
    'SYNOPSIS',
    'DESCRIPTION',
    'COMMANDS',
    'SETTINGS',
    'PROFILES',
    'FILES',
    'SIGNALS',
    '"EXIT STATUS"',
    'EXAMPLES',
  ]);
  assert.ok(page.startsWith(`.TH SIGNALBOX 1 "" "signalbox ${programVersion}" `));
});

test('the manual page contains every command, setting, profile, flag and exit code', needs('groff'), async () => {
  const text = format('groff', ['-man', '-Tutf8', '-P-c', '-P-b', '-P-u', '-P-o', '-rLL=100n']);
  const settings = Object.entries(settingsSchema.properties);
  const commands = await listCommands();
  const words = [
    ...settings.map(([key, schema]) => (textForm(schema) === 'none' ? key : toVariableName(key))),
    ...settings.flatMap(([key, schema]) => (isFlag(schema) ? `--${toFlagName(key)}` : [])),
    ...features.flatMap(({ profiles }) => profiles.map(({ name }) => name)),
    ...commands.flatMap(({ flags = {} }) => Object.keys(flags).map((key) => `--${toFlagName(key)}`)),
    ...commands.flatMap(({ variables = {}, exitCodes = {} }) => [...Object.keys(variables), ...Object.keys(exitCodes)]),
  ];
  const shown = new Set(text.split(/[\s,.]+/));
  assert.ok(words.length > 100);
  assert.deepEqual(
    words.filter((word) => !shown.has(word)),
    [],
  );
  for (const { name } of commands) assert.ok(text.includes(`signalbox ${name === 'serve' ? '[serve]' : name}`), name);
});

test('groff has no warnings about the manual page', needs('groff'), () => {
  format('groff', ['-ww', '-man', '-Tutf8', '-z']);
});

test('man shows the manual page without warnings', needs('man'), () => {
  assert.match(format('man', ['--warnings', '-l', '-']), /SIGNALBOX\(1\)/);
});

test('mandoc finds no fault in the manual page', needs('mandoc'), () => {
  // The page contains no date, so every build prints the same page.
  const { stdout, status } = spawnSync('mandoc', ['-man', '-T', 'lint', '-W', 'warning'], {
    input: page,
    encoding: 'utf8',
  });
  const faults = stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'));
  assert.deepEqual(faults, []);
  assert.notEqual(status, null);
});

test('a message that cannot be written is a failure with one line', { skip: !existsSync('/dev/full') }, (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const [program, ...args] = command;
  for (const words of [['man-page'], ['completion', 'bash']]) {
    const ended = spawnSync(program, [...args, ...words], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    assert.deepEqual(
      [ended.status, ended.stderr],
      [1, 'signalbox: cannot write to standard output: no space left on device\n'],
    );
  }
});

test('a reader that stops early is no failure', async () => {
  const [program, ...args] = command;
  const child = spawn(program, [...args, 'man-page'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(printed, '');
});
