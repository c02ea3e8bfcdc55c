import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { type Listening, listen } from '../../../test/support/app.ts';
import { openConnection } from '../../../test/support/connection.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { createAccessKeys } from '../../auth/access.ts';
import { createAuthorize, createGuard } from '../../auth/guard.ts';
import { createTokenSecrets, createTokens } from '../../auth/token.ts';
import { loadSettings } from '../../config/load.ts';
import { createSettingsSchema } from '../../config/schema.ts';
import { createServer } from '../../http/server.ts';
import { openJournal } from '../../storage/journal/journal.ts';
import { createAudit } from './audit.ts';
import { createExecutor } from './executor.ts';
import { createCommandRoutes } from './routes.ts';
import { CommandFailure, type Runner } from './runner.ts';

/** Starts a server with only the command routes, with the given runner and its own audit. */
const start = async (t: TestContext, run: Runner['run']): Promise<Listening> => {
  const log = pino({ level: 'silent' });
  const settings = loadSettings(createSettingsSchema([]), {}, {});
  const app = createServer({ ...settings, log, machine: 'test' });
  const clock = () => new Date();
  const tokens = createTokens(createTokenSecrets(randomBytes(32)), 'test', clock);
  createGuard(app, createAuthorize(tokens, createAccessKeys([])));
  const journal = await openJournal({ directory: createFolder(t), name: 'commands' });
  const audit = createAudit(journal);
  const runner = { name: 'native', run } as const;
  const executor = createExecutor({ runner, timeoutSeconds: 10, audit, clock, count: () => undefined });
  const parts = { executor, audit, runnerName: 'native', isOpen: true } as const;
  for (const { path, access: _, summary: __, ...route } of createCommandRoutes(parts)) {
    app.route({ ...route, url: path });
  }
  const listening = await listen(t, app);
  t.after(() => journal.close());
  return listening;
};

const post = async ({ request }: Listening, body: object) => {
  const { json, ...response } = await request('POST', '/api/execute', { body });
  return { ...response, body: json };
};

const answer = async () => ({ rows: [{ Id: 1, Deep: { x: null }, Odd: '\n"' }], truncated: false });

test('a response contains the command line as sent and all objects', async (t) => {
  const app = await start(t, answer);
  const command = ' Get-Process  -Name "a b" ';
  const { status, headers, body } = await post(app, { command, other: 1 });
  assert.deepEqual([status, headers['content-type']], [200, 'application/json; charset=utf-8']);
  const { rows } = await answer();
  assert.deepEqual(body, { success: true, command, result: rows });
});

test('a truncated result is marked as truncated', async (t) => {
  const app = await start(t, async () => ({ rows: [], truncated: true }));
  const { body } = await post(app, { command: 'Get-Process' });
  assert.deepEqual(body, { success: true, command: 'Get-Process', result: [], truncated: true });
});

test('a failed command gets 500 with its message, and an unexpected error hides its internals', async (t) => {
  const command = 'Get-Process';
  const failing = await start(t, () => Promise.reject(new CommandFailure('no such process')));
  const failed = await post(failing, { command });
  assert.deepEqual([failed.status, failed.body], [500, { success: false, error: 'no such process' }]);
  const broken = await start(t, () => Promise.reject(new Error('secret')));
  const { status, body } = await post(broken, { command });
  assert.equal(status, 500);
  assert.deepEqual({ ...body, requestId: '' }, { success: false, error: 'Internal server error', requestId: '' });
});

test('with 4 commands running and 16 waiting, the next command gets 503 with Retry-After', async (t) => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const app = await start(t, () => gate.then(answer));
  const command = 'Get-Process';
  const results = Array.from({ length: 21 }, () => post(app, { command }));
  const refused = await Promise.race(results);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
  release();
  const statuses = (await Promise.all(results)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [...Array(20).fill(200), 503]);
});

test('a client that resets its connection ends its command', async (t) => {
  let begun = false;
  let ended = false;
  const app = await start(t, (_, signal) => {
    begun = true;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        ended = true;
        reject(signal.reason);
      });
    });
  });
  const connection = openConnection(app.url);
  const body = '{"command":"Get-Process"}';
  connection.send(`POST /api/execute HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await waitUntil('the command runs', () => begun);
  connection.reset();
  await waitUntil('the command has ended', () => ended, 5000);
});
