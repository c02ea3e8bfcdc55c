import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { listCommands } from '../../src/cli/commands.ts';
import { runCommand } from '../support/program.ts';

const folder = new URL('wording/', import.meta.url);
const isUpdate = process.env['SIGNALBOX_TEST_UPDATE'] === '1';
const names = (await listCommands()).map(({ name }) => name);

/** Splits a line of a transcript into words. A word in double quotes is a JSON string. */
const toWords = (line: string): string[] =>
  (line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).map((word) => (word.startsWith('"') ? JSON.parse(word) : word));

/** Runs a line of a transcript, `VARIABLE=value signalbox send --level x`. Returns the line with the output. */
const runLine = async (line: string): Promise<string> => {
  const words = toWords(line);
  const place = words.indexOf('signalbox');
  const variables = Object.fromEntries(words.slice(0, place).map((word) => word.split('=', 2)));
  const { code, stdout, stderr } = await runCommand(words.slice(place + 1), { variables });
  return `$ ${line}\n${stdout}${stderr}${code === 0 ? '' : `[exit code ${code}]\n`}\n`;
};

/** Writes a transcript again: headings stay, and each command line gets its current output. */
const writeAgain = async (transcript: string): Promise<string> => {
  let written = '';
  for (const line of transcript.split('\n')) {
    if (line.startsWith('# ')) written += `${line}\n`;
    if (line.startsWith('$ ')) written += await runLine(line.slice(2));
  }
  return written;
};

for (const name of names)
  test(`${name} prints the help and the refusals of its transcript`, async () => {
    const path = new URL(`${name}.txt`, folder);
    const transcript = existsSync(path) ? readFileSync(path, 'utf8') : `$ signalbox ${name} --help\n`;
    const current = await writeAgain(transcript);
    if (isUpdate) writeFileSync(path, current);
    else assert.equal(transcript, current, 'run the test with SIGNALBOX_TEST_UPDATE=1, and review the change');
  });

test('each transcript belongs to a command', () => {
  assert.deepEqual(readdirSync(folder).toSorted(), names.map((name) => `${name}.txt`).toSorted());
});
