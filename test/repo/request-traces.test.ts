import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { passwords } from '../support/app.ts';
import { type Running, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { findSection, readText, toSections } from './support/documents.ts';

const sources = new URL('../../src/', import.meta.url).href;
const recorder = new URL('support/call-recorder.js', import.meta.url).href;

/** Run once a second for all connections, whatever is requested. */
const timers = ['http/connection/idle-timeout.ts', 'http/connection/connections.ts'];

/** Without history, which samples the machine every second. */
const profiles = 'monitoring,tasks,login,alerts,commands';

/** Steps with these words are skipped for a list that the store has cached. */
const onlyOnce = 'first time only';

const linuxOnly = { skip: process.platform === 'linux' ? false : 'commands and signals differ off Linux' };

interface Step {
  file: string;
  text: string;
}

/** The numbered steps of one request in docs/architecture.md. */
const readSteps = (request: string): Step[] => {
  const parts = toSections(findSection(readText('docs/architecture.md'), 'Three requests, file by file'), 3);
  const { text = '' } = parts.find(({ title }) => title.includes(request)) ?? {};
  return [...text.matchAll(/^\d+\. `([^`]+)`(.*)$/gm)].map(([, file = '', rest = '']) => ({ file, text: rest }));
};

const listFiles = (steps: Step[]): string[] => steps.map(({ file }) => file).toSorted();

/** The program with a recorder of entered files, after one request of each kind that is not traced. */
const startRecorded = async (t: TestContext): Promise<Running> => {
  const variables = {
    NODE_OPTIONS: `--import ${recorder}`,
    // Measuring coverage in the same process would reset the counts.
    NODE_V8_COVERAGE: '',
    SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
  };
  const program = await startProgram(t, ['--profiles', profiles], { variables });
  await program.request('GET', '/api/tasks/1');
  await program.request('POST', '/api/tasks', { body: { Title: 'a' } });
  await takeEntered(program);
  return program;
};

/** The files of `src` with a function called since the last call. */
const takeEntered = async ({ child, output }: Running): Promise<string[]> => {
  const listLines = () => [...output.stderr.matchAll(/^entered (.*)\n/gm)];
  const before = listLines().length;
  child.kill('SIGWINCH');
  await waitUntil('the program prints the files', () => listLines().length > before);
  const urls: string[] = JSON.parse(listLines().at(-1)?.[1] ?? '[]');
  return urls
    .filter((url) => url.startsWith(sources))
    .map((url) => url.slice(sources.length).replace(/\.js$/, '.ts'))
    .filter((file) => !timers.includes(file))
    .toSorted();
};

test('docs/architecture.md names the files that a request for a list of tasks enters', linuxOnly, async (t) => {
  const steps = readSteps('GET /api/tasks');
  const program = await startRecorded(t);
  assert.equal((await program.request('GET', '/api/tasks')).status, 200);
  assert.deepEqual(listFiles(steps), await takeEntered(program));
  assert.equal((await program.request('GET', '/api/tasks')).status, 200);
  const again = steps.filter(({ text }) => !text.includes(onlyOnce));
  assert.deepEqual(listFiles(again), await takeEntered(program));
});

test('docs/architecture.md names the files that a request with an alert enters', linuxOnly, async (t) => {
  const program = await startRecorded(t);
  assert.equal((await program.request('POST', '/api/alert', { body: { message: 'a' } })).status, 200);
  assert.deepEqual(listFiles(readSteps('POST /api/alert')), await takeEntered(program));
});

test('docs/architecture.md names the files that a request with a command enters', linuxOnly, async (t) => {
  const program = await startRecorded(t);
  const login = { body: { Username: 'admin', Password: passwords.admin } };
  const { token } = (await program.request<{ token: string }>('POST', '/api/auth/login', login)).json;
  await takeEntered(program);
  const body = { command: `Get-Process -Id ${program.child.pid}` };
  assert.equal((await program.request('POST', '/api/execute', { token, body })).status, 200);
  assert.deepEqual(listFiles(readSteps('POST /api/execute')), await takeEntered(program));
});
