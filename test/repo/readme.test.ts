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

/** Shell function that prints each status on stderr, and fails if the status is not 2xx. */
const strictCurl = `curl() { command curl -sS --fail-with-body -w '%{stderr}%{http_code}\\n' "$@"; }\n`;

const missing = ['bash', 'curl'].find((program) => spawnSync(program, ['--version']).error);
const skip = missing && `${missing} is not installed`;

/** Runs the lines of a document with the address replaced. Returns their output and statuses. */
const runLines = async (lines: string, url: string, password: string, cwd?: string) => {
  const script = strictCurl + lines.replaceAll(defaultAddress, url);
  const env = { PATH: process.env['PATH'], PASSWORD: password };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    env,
    cwd,
  });
  // curl reads a stream of events until its time limit, exit code 28.
  const statuses = stderr
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('curl: (28)'));
  return { stdout, statuses };
};

/** Removes the parts of a start message that differ between runs. */
const toStable = (text: string): string[] =>
  text
    .replaceAll(/http:\/\/[\d.:]+/g, 'URL')
    .replace(/(setup\?code=)\S+/g, '$1CODE')
    .trimEnd()
    .split('\n');

test("the README's commands store an alert that reaches the phone, and print the response shown", {
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
  await waitUntil('the phone has the alert', () =>
    phone.requests.some(({ headers }) => String(headers['title']).includes('the disk is full')),
  );
  assert.equal(phone.requests[0]?.path, '/TOPIC');
  // The topic's name is a secret.
  assert.doesNotMatch(output.stderr, /other accounts can read/);
});

test('the README shows the real start message with some lines omitted', async (t) => {
  const { output } = await startProgram(t, [], { cwd: createFolder(t) });
  const [block = ''] = toBlocks(readme, '');
  const shown = toStable(block).filter((line) => line.trim() !== '...');
  const real = toStable(output.stdout);
  assert.deepEqual(
    real.filter((line) => shown.includes(line)),
    shown,
  );
});

test('all requests in docs/reference/api/README.md succeed, at least one per profile', { skip }, async (t) => {
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
