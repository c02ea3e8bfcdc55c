import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { end, header, lastId, task } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { command, runCommand } from '../support/program.ts';
import { atEnd } from '../support/scope.ts';
import { fileStore } from '../support/transfer.ts';
import { waitUntil } from '../support/wait.ts';

/** Sequence that clears the last line of a terminal. */
const cleared = '\r\u001b[K';

const hasNoTerminal = spawnSync('script', ['--version']).error ? 'script(1) is not installed' : false;

test('an import shows its progress on a terminal, and nothing elsewhere', { skip: hasNoTerminal }, async (t) => {
  const folder = createFolder(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const quote = (word: string): string => `'${word}'`;
  const line = [...command, 'import', ...fileStore(join(folder, 'a'))].map(quote).join(' ');
  const terminal = spawn('script', ['-qec', `${line} < ${quote(pipe)}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], SHELL: '/bin/sh', TERM: 'xterm' },
  });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise((resolve) => terminal.once('close', resolve));
  atEnd(t, () => terminal.kill('SIGKILL') && ended);
  const input = createWriteStream(pipe);
  input.write(`${header}\n${lastId(1000)}\n`);
  let next = 1;
  await waitUntil('the progress is shown', () => {
    if (next < 900) input.write(`${task(next++)}\n`);
    return output.includes(`${cleared}Importing: 0 MB`);
  });
  input.end(`${end}\n`);
  assert.equal(await ended, 0);
  assert.match(output.split(cleared).at(-1) ?? '', /^signalbox: imported tasks \d+\r\n$/);
  const text = [header, lastId(1000), task(1), end, ''].join('\n');
  const silent = await runCommand(['import', ...fileStore(join(folder, 'b'))], { input: text });
  assert.equal(silent.stderr, 'signalbox: imported tasks 1\n');
});
