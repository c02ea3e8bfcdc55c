import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { features } from '../../src/features/index.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';
import { findSection, readText, toBlocks } from './support/documents.ts';

const readme = readText('README.md');
const api = readText('docs/reference/api/README.md');

const defaultAddress = 'http://127.0.0.1:8080';

/** Prints each status on standard error, and fails if it is not 2xx. */
const strictCurl = `curl() { command curl -sS --fail-with-body -w '%{stderr}%{http_code}\\n' "$@"; }\n`;

const missing = ['bash', 'curl'].find((program) => spawnSync(program, ['--version']).error);
const skip = missing && `${missing} is not installed`;

/** Runs lines of a document with the address replaced; returns their output and each status. */
const runLines = async (lines: string, url: string, password: string, cwd?: string) => {
  const script = strictCurl + lines.replaceAll(defaultAddress, url);
  const env = { PATH: process.env['PATH'], PASSWORD: password };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    env,
    cwd,
  });
  // A stream of events is read until curl's own time limit (28).
  const statuses = stderr
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('curl: (28)'));
  return { stdout, statuses };
};

/** A start message without the parts that differ between runs. */
const toStable = (text: string): string[] =>
  text
    .replaceAll(/http:\/\/[\d.:]+/g, 'URL')
    .replace(/(setup\?code=)\S+/g, '$1CODE')
    .trimEnd()
    .split('\n');

test("the README's commands store an alert that reaches the phone, and print a response like the one shown", {
  skip,
}, async (t) => {
  const [cwd, phone] = [createFolder(t), await startReceiver(t)];
  const [, start = '', send = ''] = toBlocks(readme, 'sh');
  const [write = '', npmStart = ''] = start.split('\n');
  await runLines(write.replace('https://ntfy.sh', phone.url), '', '', cwd);
  const args = npmStart.replace('npm start -- ', '').split(' ');
  const { url, request, output } = await startProgram(t, args, { cwd });
  const { stdout, statuses } = await runLines(send, url, '');
  assert.deepEqual(statuses, ['200']);
  const [shown = ''] = toBlocks(readme, 'text');
  assert.deepEqual({ ...JSON.parse(stdout), id: '' }, { ...JSON.parse(shown), id: '' });
  const { data } = JSON.parse((await request('GET', '/api/alerts')).text);
  assert.deepEqual([data[0].level, data[0].message], ['ERROR', 'the disk is full']);
  await waitUntil('the phone has it', () => phone.requests.some(({ body }) => body.includes('the disk is full')));
  assert.equal(phone.requests[0]?.path, '/TOPIC');
  // The name of the topic is a secret.
  assert.doesNotMatch(output.stderr, /other accounts can read/);
});

test('the start message in the README is the real one with lines left out', async (t) => {
  const { output } = await startProgram(t, [], { cwd: createFolder(t) });
  const [block = ''] = toBlocks(readme, '');
  const shown = toStable(block).filter((line) => line.trim() !== '...');
  const real = toStable(output.stdout);
  assert.deepEqual(
    real.filter((line) => shown.includes(line)),
    shown,
  );
});

test('the requests in docs/reference/api/README.md all succeed, one or more for each profile', { skip }, async (t) => {
  const password = 'correct horse';
  const variables = { SIGNALBOX_ADMIN_PASSWORD: password };
  const { url } = await startProgram(t, [], { cwd: createFolder(t), variables });
  const [lines = ''] = toBlocks(findSection(api, 'Requests'), 'sh');
  const { statuses } = await runLines(lines, url, password);
  assert.equal(statuses.length, lines.match(/\bcurl /g)?.length);
  for (const status of statuses) assert.match(status, /^2\d\d$/);
  const served = features.filter(({ needsDatabase }) => !needsDatabase);
  for (const { name } of served.flatMap(({ profiles }) => profiles))
    assert.match(lines, new RegExp(`^# ${name}\\b`, 'm'));
});
