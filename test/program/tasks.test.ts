import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { runCommand } from '../support/program.ts';

const key = async (scope: string) => {
  const { stdout, stderr } = await runCommand(['create-key', scope, '--scope', scope]);
  return { entry: JSON.parse(stdout), secret: /sbk_\w+/.exec(stderr)?.[0] ?? '' };
};

test('tasks lists open tasks, the most urgent first, and task shows a task and changes its status', async (t) => {
  const [oncall, review] = [await key('incidents:write'), await key('incidents:read')];
  const app = await startApp(t, { settings: { access: 'login', keys: [oncall.entry, review.entry] } });
  const run = (...args: string[]) => runAs(oncall.secret, ...args);
  const runAs = (secret: string, ...args: string[]) =>
    runCommand([...args, '--url', app.url], { variables: { SIGNALBOX_KEY: secret } });
  assert.equal((await run('tasks')).stdout, 'No open tasks.\n');
  const token = await app.login('admin');
  for (const body of [
    { Title: 'Check the\nbackups' },
    { Title: 'Replace the disk', Priority: 'Critical', Description: 'In rack 4\n\u001b[2Jslot 7' },
    { Title: 'Renew the certificate', Priority: 'High' },
    { Title: 'Tidy up', Priority: 'Low' },
  ]) {
    assert.equal((await app.request('POST', '/api/tasks', { token, body })).status, 201);
  }
  assert.equal((await run('task', '1', '--status', 'in-progress')).code, 0);
  const taken = await run('task', '#4', '--status', 'cancelled', '--json');
  assert.deepEqual([taken.code, JSON.parse(taken.stdout).Status], [0, 'Cancelled']);
  const { code, stdout, stderr } = await run('tasks');
  assert.deepEqual([code, stderr], [0, '']);
  const [head = '', ...rows] = stdout.trimEnd().split('\n');
  assert.match(head, /^# +PRIORITY +STATUS +CREATED +TASK$/);
  assert.deepEqual(
    rows.map((row) => row.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'TIME').replaceAll(/ +/g, ' ')),
    [
      '2 Critical Pending TIME Replace the disk',
      '3 High Pending TIME Renew the certificate',
      '1 Medium InProgress TIME Check the backups',
    ],
  );
  assert.match((await run('task', '2')).stdout, /Replace the disk\n\nIn rack 4\n\\u\{1b\}\[2Jslot 7\n$/);
  const json = await runAs(review.secret, 'tasks', '--status', 'Cancelled', '--json');
  assert.deepEqual(JSON.parse(json.stdout).Title, 'Tidy up');
  assert.equal((await run('tasks', '--priority', 'high', '--status', 'completed')).stdout, 'No matching tasks.\n');
  const refused = await runAs(review.secret, 'task', '1', '--status', 'Completed');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match((await run('task', '77')).stderr, /responded 404: Task with Id=77 not found/);
});

test('watches lists all watches, firing ones first', async (t) => {
  const { entry, secret } = await key('incidents:write');
  const missing = '/nowhere/at/all';
  const app = await startApp(t, {
    settings: {
      access: 'login',
      keys: [entry],
      watches: [
        { name: 'own', type: 'journal', every: 1 },
        { name: 'dump', type: 'file', path: missing, every: 1 },
        { name: 'off', type: 'file', path: missing, enabled: false },
      ],
    },
  });
  const run = (...args: string[]) =>
    runCommand(['watches', ...args, '--url', app.url], { variables: { SIGNALBOX_KEY: secret } });
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^NAME +TYPE +STATE +LEVEL +SINCE +READING\n/);
  assert.match(stdout, /^off +file +paused$/m);
  const { stdout: json } = await run('--json');
  assert.deepEqual(
    json
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).name),
    ['own', 'dump', 'off'],
  );
  const denied = await runCommand(['watches', '--url', app.url]);
  assert.deepEqual([denied.code, denied.stdout], [1, '']);
});
