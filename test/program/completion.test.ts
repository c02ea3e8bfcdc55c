import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { listCommands } from '../../src/cli/commands.ts';
import { isFlag, toFlagName } from '../../src/config/names.ts';
import { settingsSchema } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand } from '../support/program.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

const print = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
};

/** Only a machine of CI must have the shell. */
const needs = (shell: string): { skip: string | false } => ({
  skip: !process.env['CI'] && spawnSync(shell, ['--version']).error ? `${shell} is not installed` : false,
});

/** What bash offers for a line with the cursor at its end. */
const completeInBash = (script: string, line: string): string[] => {
  const test = `source "$1"; COMP_LINE=$2 COMP_POINT=\${#2}; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', test, 'bash', script, line], { encoding: 'utf8' });
  assert.equal(stderr, '');
  return [...new Set(stdout.split('\n').filter((word) => word !== ''))];
};

test('the completions of every shell have every command, every flag and their values', async () => {
  const commands = await listCommands();
  const flags = [
    ...commands.flatMap(({ flags: own = {} }) => Object.keys(own)),
    ...Object.keys(settingsSchema.properties).filter((key) => isFlag(settingsSchema.properties[key] ?? {})),
  ].map(toFlagName);
  assert.ok(commands.length >= 14 && flags.length > 40);
  for (const shell of shells) {
    const script = await print(shell);
    for (const { name } of commands) assert.match(script, new RegExp(`\\b${name}\\b`), shell);
    for (const flag of flags) {
      const prefix = shell === 'fish' ? '-l ' : '--';
      assert.match(script, new RegExp(`${prefix}(no-)?${flag}\\b`), `${shell}: ${flag}`);
    }
    assert.match(script, /silent fatal error/, shell);
  }
});

test('bash completes commands, flags and values', needs('bash'), async (t) => {
  const script = join(createFolder(t), 'completion');
  writeFileSync(script, await print('bash'));
  for (const [line, expected] of [
    ['signalbox he', ['heartbeats', 'healthcheck']],
    ['signalbox completion ', ['bash', 'zsh', 'fish']],
    ['signalbox send --le', ['--level']],
    ['signalbox send --level ', ['CRITICAL', 'ERROR', 'WARNING', 'INFO']],
    ['signalbox send --level=W', ['WARNING']],
    ['signalbox send --level WARNING --re', ['--retry-for']],
    ['signalbox --log-level tr', ['trace']],
    ['signalbox --store ', ['memory', 'file']],
    ['signalbox --store=f', ['file']],
    ['signalbox --profiles ite', ['items']],
    ['signalbox --profiles items,lo', ['items,login']],
    ['signalbox --profiles=items,login,ale', ['items,login,alerts', 'items,login,alertmanager']],
    ['signalbox --log-level trace,', []],
    ['signalbox --no-alerts-s', ['--no-alerts-sync']],
    ['signalbox --config a.json exp', ['export']],
    ['signalbox --config ', []],
    ['signalbox check-config --confi', []],
    ['signalbox export --store', ['--store', '--store-max-bytes']],
    ['signalbox create-key name --scope alerts:w', ['write']],
    ['signalbox run --time', ['--timeout']],
    ['signalbox run --timeout 1 -- mkfif', ['mkfifo']],
    ['signalbox run -- ls --level ', []],
    ['signalbox run ls --le', []],
    ['signalbox hash-password ', []],
  ] as const) {
    assert.deepEqual(completeInBash(script, line), expected, line);
  }
  const all = (await listCommands()).map(({ name }) => name);
  assert.deepEqual(completeInBash(script, 'signalbox ').toSorted(), all.toSorted());
});

test('fish completes commands, flags and values', needs('fish'), async (t) => {
  const script = join(createFolder(t), 'completion');
  writeFileSync(script, await print('fish'));
  for (const [line, expected] of [
    ['signalbox healthc', ['healthcheck']],
    ['signalbox send --le', ['--level']],
    ['signalbox send --level ', ['CRITICAL', 'ERROR', 'INFO', 'WARNING']],
    ['signalbox --store ', ['file', 'memory']],
    ['signalbox --profiles ite', ['items']],
    ['signalbox --profiles items,log', ['items,login']],
    ['signalbox --log-level tr', ['trace']],
    ['signalbox create-key n --scope alerts:w', ['alerts:write']],
    ['signalbox completion ', ['bash', 'fish', 'zsh']],
  ] as const) {
    const { stdout, stderr } = spawnSync(
      'fish',
      ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: createFolder(t) },
      },
    );
    assert.equal(stderr, '');
    const words = stdout
      .trim()
      .split('\n')
      .map((word) => word.split('\t', 1).join());
    assert.deepEqual(words.toSorted(), expected, line);
  }
});

test('zsh completes commands, flags and values in a terminal', needs('zsh'), async (t) => {
  const folder = createFolder(t);
  writeFileSync(join(folder, '_signalbox'), await print('zsh'));
  // zsh offers completions only to its line editor, so it runs in a terminal of its own.
  const script = `zmodload zsh/zpty
    zpty z zsh -f -i
    read-until() { local piece text=; while zpty -r z piece; do text+=$piece; [[ $text == *$1* ]] && break; done; print -r -- "$text" }
    zpty -w z "PS1=; unsetopt zle_bracketed_paste; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-colors ''; print re''ady"
    read-until ready > /dev/null
    zpty -w -n z "signalbox $2"$'\\t'
    sleep 2
    zpty -w -n z $'\\C-a'"print -r -- DO''NE "$'\\n'
    read-until DONE`;
  const cases = [
    ['healthc', 'healthcheck'],
    ['send --lev', '--level='],
    ['send --level=WA', '--level=WARNING'],
    ['--log-level=tr', '--log-level=trace'],
    ['--profiles=ite', '--profiles=items'],
    ['--profiles=items,log', '--profiles=items,login'],
    ['create-key n --scope=alerts:w', '--scope=alerts:write'],
    ['completion fi', 'fish'],
  ] as const;
  // At the same time, because each waits for its completions.
  const check = async ([line, expected]: (typeof cases)[number]): Promise<void> => {
    const { stdout } = await promisify(execFile)('zsh', ['-f', '-c', script, 'zsh', folder, line], {
      timeout: 30_000,
      env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb' },
    });
    assert.ok(stdout.includes(expected), `${line}: ${JSON.stringify(stdout)}`);
  };
  await Promise.all(cases.map(check));
});

test('completion takes the name of a shell', async () => {
  assert.equal(await refusal(['completion'], 2), 'completion takes one SHELL; see signalbox completion --help');
  assert.equal(await refusal(['completion', 'tcsh'], 2), 'completion takes bash, zsh, fish, not "tcsh"');
});
