import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Silence } from '../../src/features/silences/schema.ts';
import { strong } from '../accounts/support/accounts.ts';
import { listIncidents } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { passwords } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { runCommand, startProgram } from '../support/program.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { inHours, listSilences } from './support/silences.ts';

/** Creates an expression for which the engine keeps 90 states while it reads a string of a and b. */
const costly = (index: number): string => `[ab]*a[ab]{90}c${index}`;

const toText = (index: number): string =>
  Array.from({ length: 499 }, (_, at) => ((at * at + index) % 7 < 3 ? 'a' : 'b')).join('');

/** Creates an exact matcher and expressions that match none of the strings. */
const createMatchers = (count: number, offset = 0) => [
  { name: 'source', value: 'shop', isRegex: false, isEqual: true },
  ...Array.from({ length: count }, (_, index) => ({
    name: 'text',
    value: costly(offset + index),
    isRegex: true,
    isEqual: false,
  })),
];

const usual = { startsAt: '0001-01-01T00:00:00.000Z', endsAt: inHours(24), createdBy: 'anna', comment: '' };

test('the expressions of all silences together cannot delay alerts, incidents and other requests', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const post = (matchers: object[]) =>
    app.request<string>('POST', '/api/v2/silences', { token, body: { ...usual, matchers } });
  const large = await post(createMatchers(49));
  assert.deepEqual([large.status, /is too large: use fewer/.test(large.json)], [400, true], large.json);
  let count = 0;
  let refused = '';
  while (refused === '' && count < 200) {
    const { status, json } = await post(createMatchers(1, count));
    if (status === 200) count += 1;
    else refused = json;
  }
  assert.match(refused, /would take too long: match a source, host name or label exactly/);
  assert.ok(count >= 5 && count < 50, `${count}`);
  for (const index of [1, 2, 3]) await sendAlert(app, { source: 'shop', level: 'ERROR', message: toText(index) });
  const { user } = process.cpuUsage();
  await waitUntilPasses(async () => {
    const { data } = await listIncidents(app);
    assert.equal(data.length, 3);
    assert.ok(data.every(({ silencedBy }) => silencedBy.length === count));
  });
  assert.equal((await app.request('GET', '/livez')).status, 200);
  assert.ok(process.cpuUsage().user - user < 2_000_000);
  // Silences that have ended cost nothing, so there is room for new silences.
  const { data } = await listSilences(app, '?limit=1000');
  for (const { id } of data) await app.request('DELETE', `/api/silences/${id}`, { token });
  assert.equal((await post(createMatchers(1, 1000))).status, 200);
});

test('stored silences that cost too much delay neither the start nor responses, and give the reason why they have no effect', async (t) => {
  const variables = { SIGNALBOX_ADMIN_PASSWORD: passwords.admin };
  const cwd = createFolder(t);
  const when = { at: 1_700_000_000_000, createdAt: 1_700_000_000_000 };
  const toLine = (matchers: object[], endsAt: number, version: number): string => {
    const value = { matching: { matchers }, startsAt: when.at, endsAt, comment: 'old', createdBy: 'anna' };
    return JSON.stringify({
      settings: { id: randomUUID(), kind: 'silence', name: randomUUID(), value, by: 'anna', ...when, version },
    });
  };
  await runCommand(['create-user', 'anna'], { cwd, input: `${strong}\n` });
  const [first = '', ...rest] = (await runCommand(['export', '--store', 'file'], { cwd })).stdout.trim().split('\n');
  const later = Date.now() + 86_400_000;
  const exact = [{ name: 'source', value: 'shop', isRegex: false, isEqual: true }];
  const lines = [
    toLine(exact, later, 1),
    ...Array.from({ length: 300 }, (_, index) => toLine(createMatchers(49, 100 * index), later, index + 2)),
    ...Array.from({ length: 100 }, (_, index) => toLine(createMatchers(1, index), later, index + 400)),
    ...Array.from({ length: 100 }, (_, index) => toLine(createMatchers(49, index), Date.now() - 60_000, index + 600)),
  ];
  const other = createFolder(t);
  const input = `${[first, ...lines, ...rest].join('\n')}\n`;
  const { code, stderr } = await runCommand(['import', '--store', 'file'], { cwd: other, input });
  assert.equal(code, 0, stderr);
  const server = await startProgram(t, ['--store', 'file'], { cwd: other, variables });
  const login = { Username: 'admin', Password: passwords.admin };
  const { json } = await server.request<{ token: string }>('POST', '/api/auth/login', { body: login });
  const { token } = json;
  for (const index of [1, 2]) {
    const body = { source: 'shop', level: 'ERROR', message: toText(index) };
    assert.equal((await server.request('POST', '/api/alert', { body })).status, 200);
  }
  await waitUntilPasses(async () => assert.equal((await listIncidents(server)).total, 2));
  const [incident] = (await listIncidents(server)).data;
  const { data, total } = await listSilences(server, '?state=active&limit=1000');
  assert.equal(total, 401);
  const broken = data.filter(({ problem }) => problem !== null);
  assert.ok(broken.length > 350, `${broken.length}`);
  assert.ok(broken.every(({ problem }) => /too large|too long/.test(problem ?? '')));
  assert.ok(!broken.some(({ id }) => incident?.silencedBy.includes(id)));
  assert.ok((incident?.silencedBy.length ?? 0) >= 1);
  const ended = await server.request<Silence>('DELETE', `/api/silences/${broken[0]?.id}`, { token });
  assert.deepEqual([ended.status, ended.json.state, ended.json.problem], [200, 'expired', null]);
  const { json: health } = await server.request('GET', '/api/status');
  assert.match(JSON.stringify(health), /silences have no effect/);
});

test('the size of filters in a query is limited before they are compiled, and their time while they are compared', async (t) => {
  const app = await startApp(t);
  const messages = Array.from({ length: 60 }, (_, index) => toText(index));
  for (const [index, message] of messages.entries()) {
    await sendAlert(app, { source: `shop-${index}`, level: 'ERROR', message });
  }
  await waitUntilPasses(async () => assert.equal((await listIncidents(app)).total, 60));
  const ask = (path: string, query: [string, string][]) =>
    app.request<{ error: string }>('GET', `/api/v2/${path}?${new URLSearchParams(query)}`);
  const { user } = process.cpuUsage();
  const long = `${'(a{1000}){1000}'.repeat(60)}x`;
  for (const query of [
    [['receiver', long]],
    [['receiver', 'a'.repeat(8000)]],
    [['filter', `text=~"${long}"`]],
    [['filter', 'text=~"(?i)\\\\pL{500}"']],
    Array.from({ length: 20 }, (_, index) => ['filter', `text!~"${costly(index)}"`]),
  ] as [string, string][][]) {
    for (const path of ['alerts', 'alerts/groups']) {
      const { status, json } = await ask(path, query);
      assert.deepEqual([status, /too large|must not exceed/.test(json.error)], [400, true], json.error);
    }
  }
  assert.equal((await ask('silences', [['filter', `a=~"${long}"`]])).status, 400);
  assert.ok(process.cpuUsage().user - user < 2_000_000);
  const few = await ask('alerts', [['filter', `text!~"${costly(0)}"`]]);
  assert.equal(few.status, 200);
  assert.equal((few.json as unknown as object[]).length, 60);
});

test('other work runs between the alerts of a burst that is compared with many silences', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  for (let isFull = false, count = 0; !isFull; count += 1) {
    const matchers = [{ name: 'text', value: costly(count), isRegex: true, isEqual: false }, ...createMatchers(0)];
    const { status } = await app.request('POST', '/api/v2/silences', { token, body: { ...usual, matchers } });
    isFull = status !== 200;
  }
  const toPrefix = (index: number): string =>
    index.toString(2).padStart(7, '0').replaceAll('0', 'a').replaceAll('1', 'b');
  const messages = Array.from({ length: 80 }, (_, index) => toPrefix(index) + toText(index));
  // Measures CPU time, because other processes on a busy machine do not lengthen it.
  let longest = 0;
  let last = process.cpuUsage().user;
  const ticks = setInterval(() => {
    const now = process.cpuUsage().user;
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  t.after(() => clearInterval(ticks));
  const { user } = process.cpuUsage();
  const body = messages.map((message) => ({ source: 'shop', level: 'ERROR', message, key: message }));
  await Promise.all(body.map((one) => sendAlert(app, one)));
  await waitUntilPasses(async () => {
    const { data } = await listIncidents(app, '?limit=200');
    assert.equal(data.filter(({ silencedBy }) => silencedBy.length > 0).length, messages.length);
  });
  const used = process.cpuUsage().user - user;
  assert.ok(longest < used / 4, `${longest} µs of ${used} µs`);
});
