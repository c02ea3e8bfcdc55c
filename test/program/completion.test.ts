import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { listCommands } from '../../src/cli/commands.ts';
import { isFlag, toFlagName } from '../../src/config/names.ts';
import { settingsSchema, startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, runCommand } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

const print = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
};

/** Skips a test if the shell is missing, except in CI. */
const needs = (shell: string): { skip: string | false } => ({
  skip: !process.env['CI'] && spawnSync(shell, ['--version']).error ? `${shell} is not installed` : false,
});

type Variables = Record<string, string>;

/** Runs a shell without blocking the test's server. */
const runShell = async (program: string, args: readonly string[], variables: Variables = {}): Promise<string> => {
  const env = { PATH: process.env['PATH'], ...variables };
  const { stdout, stderr } = await promisify(execFile)(program, args, { encoding: 'utf8', env, timeout: 30_000 });
  assert.equal(stderr, '');
  return stdout;
};

/** Returns bash's completions of a line with the cursor at its end. */
const completeInBash = async (script: string, line: string, variables?: Variables): Promise<string[]> => {
  const test = `source "$1"; COMP_LINE=$2 COMP_POINT=\${#2}; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const stdout = await runShell('bash', ['--norc', '-c', test, 'bash', script, line], variables);
  return [...new Set(stdout.split('\n').filter((word) => word !== ''))];
};

const completeInFish = async (script: string, line: string, variables?: Variables): Promise<string[]> => {
  const args = ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line];
  const stdout = await runShell('fish', args, variables);
  const words = stdout.split('\n').map((word) => word.split('\t', 1).join());
  return words.filter((word) => word !== '').toSorted();
};

test('the completions of every shell contain every command, every flag and their values', async () => {
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
    assert.deepEqual(await completeInBash(script, line), expected, line);
  }
  const all = (await listCommands()).map(({ name }) => name);
  assert.deepEqual((await completeInBash(script, 'signalbox ')).toSorted(), all.toSorted());
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
    assert.deepEqual(await completeInFish(script, line, { HOME: createFolder(t) }), expected, line);
  }
});

/** Returns zsh's output after a tab. zsh completes only in its line editor, and the editor needs a terminal. */
const completeInZsh = (folder: string, line: string, variables?: Variables): Promise<string> => {
  const script = `zmodload zsh/zpty
    zpty z zsh -f -i
    read-until() { local piece text=; while zpty -r z piece; do text+=$piece; [[ $text == *$1* ]] && break; done; print -r -- "$text" }
    zpty -w z "PS1=; unsetopt zle_bracketed_paste; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-colors ''; print re''ady"
    read-until ready > /dev/null
    zpty -w -n z "signalbox $2"$'\\t'
    sleep 2
    zpty -w -n z $'\\C-a'"print -r -- DO''NE "$'\\n'
    read-until DONE`;
  return runShell('zsh', ['-f', '-c', script, 'zsh', folder, line], { HOME: folder, TERM: 'dumb', ...variables });
};

test('zsh completes commands, flags and values in a terminal', needs('zsh'), async (t) => {
  const folder = createFolder(t);
  writeFileSync(join(folder, '_signalbox'), await print('zsh'));
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
  // The cases run concurrently, because each waits for its completions.
  const check = async ([line, expected]: (typeof cases)[number]): Promise<void> => {
    const stdout = await completeInZsh(folder, line);
    assert.ok(stdout.includes(expected), `${line}: ${JSON.stringify(stdout)}`);
  };
  await Promise.all(cases.map(check));
});

test('the numbers of incidents and tasks are completed; while the server is unreachable there are no completions and no messages', async (t) => {
  const app = await startApp(t);
  const folder = createFolder(t);
  const [program = '', ...args] = command;
  const called = [program, ...args].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(folder, 'signalbox'), `#!/bin/sh\nexec ${called} "$@"\n`, { mode: 0o755 });
  for (const message of ['disk \u001b[31mis full', 'b: c']) {
    const body = { source: message.slice(0, 1), level: 'ERROR', message };
    await app.request('POST', '/api/alert', { body });
  }
  await app.request('POST', '/api/tasks', { body: { Title: 'Check the backups' } });
  await waitUntil('both incidents are open', async () => {
    const { stdout } = await runCommand(['completion', 'incidents'], { variables: { SIGNALBOX_URL: app.url } });
    return stdout === '2\tERROR b: c\n1\tERROR disk [31mis full\n';
  });
  const away = `http://127.0.0.1:${await findFreePort()}`;
  const toVariables = (SIGNALBOX_URL: string): Variables => ({
    SIGNALBOX_URL,
    PATH: `${folder}:${process.env['PATH']}`,
    HOME: folder,
  });
  const silent = await runCommand(['completion', 'incidents'], { variables: { SIGNALBOX_URL: away } });
  assert.deepEqual([silent.code, silent.stdout, silent.stderr], [1, '', '']);
  if (!needs('bash').skip) {
    const script = join(folder, 'completion.bash');
    writeFileSync(script, await print('bash'));
    for (const [line, expected] of [
      ['signalbox ack ', ['2', '1']],
      ['signalbox resolve 1 2', ['2']],
      ['signalbox incident ', ['2', '1']],
      ['signalbox task ', ['1']],
      ['signalbox ack --unt', ['--until']],
    ] as const) {
      assert.deepEqual(await completeInBash(script, line, toVariables(app.url)), expected, line);
    }
    assert.deepEqual(await completeInBash(script, 'signalbox ack ', toVariables(away)), []);
  }
  if (!needs('fish').skip) {
    const script = join(folder, 'completion.fish');
    writeFileSync(script, await print('fish'));
    assert.deepEqual(await completeInFish(script, 'signalbox ack ', toVariables(app.url)), ['1', '2']);
    assert.deepEqual(await completeInFish(script, 'signalbox ack ', toVariables(away)), []);
  }
  if (!needs('zsh').skip) {
    writeFileSync(join(folder, '_signalbox'), await print('zsh'));
    const [some, none] = await Promise.all([
      completeInZsh(folder, 'ack ', toVariables(app.url)),
      completeInZsh(folder, 'ack ', toVariables(away)),
    ]);
    assert.match(some, /2 +-- ERROR b: c/);
    assert.match(some, /1 +-- ERROR disk \[31mis full/);
    assert.doesNotMatch(none, /[12] +--|signalbox:/);
  }
});
