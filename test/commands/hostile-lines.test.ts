import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { requires } from '../lab/faults/support/requirements.ts';
import { createFolder } from '../support/folder.ts';
import { type Running, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { readHostileLines } from './support/hostile-lines.ts';

interface Answer {
  status: number;
  json: { success?: boolean; error?: string };
}

const lines = readHostileLines();

/** Allowed strings that only look dangerous. No process has such a name. */
const plainTexts = [
  "'$(id)'",
  "'a; Stop-Computer'",
  '"| id"',
  '"&& reboot"',
  "'@{x=1}'",
  "'`n'",
  "'-ComputerName'",
  '../../bin/sh',
  '%PATH%',
  '/etc/passwd',
  "'#<script>alert(1)</script>'",
  "'x – y\u00a0z'",
  '"--%"',
  '\\\\host\\share',
];

const start = (t: TestContext, wrapper: string[] = []): Promise<Running> => {
  const dataDir = join(createFolder(t), 'data');
  const args = ['--profiles', 'commands', '--execute-auth', 'none', '--data-dir', dataDir];
  return startProgram(t, args, { wrapper });
};

const execute = async (url: string, body: string | Uint8Array<ArrayBuffer>): Promise<Answer> => {
  const response = await fetch(`${url}/api/execute`, { method: 'POST', body });
  return { status: response.status, json: (await response.json()) as Answer['json'] };
};

const sendLine = (url: string, command: string): Promise<Answer> => execute(url, JSON.stringify({ command }));

/** Returns the started programs in order, except for the server itself. */
const readStarts = (trace: string): string[] =>
  [...readFileSync(trace, 'utf8').matchAll(/\bexecve(?:at)?\((?:\w+, )?"([^"]*)"/g)]
    .map(([, program = '']) => program)
    .slice(1);

test('each of more than 300 hostile lines is refused with a reason that names the fault', async (t) => {
  assert.ok(lines.length > 300);
  assert.equal(new Set(lines.map(({ line }) => line)).size, lines.length);
  const { url } = await start(t);
  for (const { group, line, says, status } of lines) {
    const answer = await sendLine(url, line);
    const about = `${group}: ${JSON.stringify(line).slice(0, 200)}`;
    assert.deepEqual([answer.status, Object.keys(answer.json)], [status, ['error']], about);
    assert.ok(answer.json.error?.includes(says), `${about} is refused with ${answer.json.error}`);
  }
});

test('text in quotes is data and never syntax', async (t) => {
  const { url } = await start(t);
  for (const text of plainTexts) {
    const { status, json } = await sendLine(url, `Get-Process -Name ${text}`);
    const name = text.replace(/^(['"])(.*)\1$/, '$2');
    assert.deepEqual([status, json.success, json.error?.includes(`"${name}"`)], [500, false, true], text);
  }
});

test('bodies that are not UTF-8 are refused', async (t) => {
  const { url } = await start(t);
  const line = '{"command":"Get-Process"}';
  const bodies = [
    Buffer.from(line, 'utf16le'),
    Buffer.from(`\ufeff${line}`, 'utf16le'),
    Buffer.from(line.replace('-', '\xad'), 'latin1'),
    Buffer.from(line.replace('-', '\xc0\xad'), 'latin1'),
    Buffer.from(line.replace('-', '\xed\xa0\x80'), 'latin1'),
    Buffer.from(line.replace('-', '\xf8\x80\x80\x80\xad'), 'latin1'),
  ];
  for (const body of bodies) {
    const { status, json } = await execute(url, new Uint8Array(body));
    assert.deepEqual([status, Object.keys(json)], [400, ['error']], body.toString('hex'));
  }
});

const tracing = requires({ programs: ['strace', 'journalctl'] });
test('no hostile line starts a process, as strace shows', tracing, async (t) => {
  const trace = join(createFolder(t), 'trace');
  const strace = ['strace', '-D', '-f', '-qq', '-e', 'trace=execve,execveat', '-o', trace];
  const { url } = await start(t, strace);
  for (const { line, status } of lines) assert.equal((await sendLine(url, line)).status, status, line);
  for (const text of plainTexts) await sendLine(url, `Get-Process -Name ${text}`);
  await sendLine(url, 'Get-EventLog System -Newest 1');
  await waitUntil('the trace shows journalctl', () => readStarts(trace).length > 0);
  assert.match(readStarts(trace)[0] ?? '', /^(?:\/usr)?\/bin\/journalctl$/);
});
