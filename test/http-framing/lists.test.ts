import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { needs } from '../../src/auth/access.ts';
import { sendList } from '../../src/http/json.ts';
import { defineRoute, type Route } from '../../src/kit/route.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { createId, type LogRecord } from '../../src/storage/journal/line.ts';
import { enrol, report } from '../hosts/support/hosts.ts';
import { listServedRoutes } from '../repo/support/api.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openConnection } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { waitUntil } from '../support/wait.ts';
import { get } from './support/requests.ts';

/** Kind of stored content in an app: settings and records, alerts, or silences. */
type Content = 'configured' | 'alerts' | 'silences';

/** Numbers of stored entries of each kind, up to the limit of the kind. Some kinds have twice as many alerts. */
const sizes: Record<Content, number[]> = {
  configured: [0, 1, 51, 1000, 10_000],
  alerts: [0, 1, 51, 1000, 5001],
  silences: [0, 1, 51, 1000, 10_000],
};

/** List of stored entries. */
interface StoredList {
  content: Content;
  /** Path that returns all entries in one response. Default: the path of the route. */
  path?: string;
  /**
   * Returns the number of entries in the response, given the number of stored entries of each kind. Undefined if the
   * number depends on the date.
   */
  count?: (stored: number) => number;
  /** True if the path does not exist while there are no entries. */
  isNeverEmpty?: true;
}

const upTo =
  (most: number, least = 0) =>
  (stored: number): number =>
    Math.max(least, Math.min(stored, most));
const day = 86_400_000;
const days = (count: number): string => new Date(Date.now() + count * day).toISOString();

const storedLists: Record<string, StoredList> = {
  '/api/about/schedule': { content: 'silences', path: '/api/about/schedule?schedule=@daily' },
  // Each incident has an alert, and the first incident has as many alerts as there are incidents.
  '/api/alerts': {
    content: 'alerts',
    path: '/api/alerts?count=10000',
    count: (stored) => upTo(10_000)(2 * stored - 1),
  },
  '/api/alerts/search': {
    content: 'alerts',
    path: '/api/alerts/search?limit=1000',
    count: (stored) => upTo(1000)(2 * stored - 1),
  },
  '/api/audit': { content: 'silences', path: '/api/audit?limit=1000', count: upTo(1000) },
  '/api/deliveries': { content: 'configured', count: upTo(100) },
  '/api/destinations': { content: 'configured', count: upTo(100) },
  '/api/executions': {
    content: 'alerts',
    path: '/api/executions?count=10000',
    count: (stored) => upTo(10_000)(2 * stored),
  },
  '/api/heartbeats': { content: 'configured', path: '/api/heartbeats?runs=5', count: upTo(5000) },
  '/api/heartbeats/:name/runs': {
    content: 'alerts',
    path: '/api/heartbeats/h0/runs?limit=100',
    count: upTo(100),
    isNeverEmpty: true,
  },
  '/api/incidents': { content: 'alerts', path: '/api/incidents?limit=1000', count: upTo(1000) },
  '/api/incidents/:id/alerts': {
    content: 'alerts',
    path: '/api/incidents/1/alerts?limit=1000',
    count: upTo(1000),
    isNeverEmpty: true,
  },
  '/api/intake-formats': { content: 'configured', count: upTo(100) },
  '/api/items': { content: 'configured', path: '/api/items?size=10000', count: upTo(10_000) },
  '/api/keys': { content: 'configured', count: upTo(1000) },
  '/api/notifications': { content: 'alerts', path: '/api/notifications?limit=1000', count: upTo(1000) },
  '/api/oncall': { content: 'configured', count: upTo(16) },
  '/api/oncall/overrides': { content: 'configured', count: upTo(1000) },
  '/api/oncall/proposals': { content: 'configured', count: () => 0 },
  '/api/oncall/schedule': { content: 'configured', path: `/api/oncall/schedule?to=${days(300)}` },
  '/api/people/:person/calendar': { content: 'configured', path: '/api/people/me/calendar', count: () => 0 },
  '/api/escalation-policies': { content: 'configured', path: '/api/escalation-policies', count: upTo(1) },
  '/api/rotations': { content: 'configured', count: upTo(16) },
  '/api/rotations/:rotation/calendar': {
    content: 'configured',
    path: `/api/rotations/r0/calendar?until=${days(300)}`,
    isNeverEmpty: true,
  },
  '/api/rotations/:rotation/calendar-addresses': {
    content: 'configured',
    path: '/api/rotations/r0/calendar-addresses',
    count: () => 0,
    isNeverEmpty: true,
  },
  '/api/sessions': { content: 'configured', count: () => 1 },
  '/api/settings/broken': { content: 'configured', count: (stored) => stored },
  '/api/silences': { content: 'silences', path: '/api/silences?limit=1000', count: upTo(1000) },
  '/api/announcements': { content: 'configured', count: () => 0 },
  '/api/status-pages': { content: 'configured', count: upTo(50) },
  '/api/status-pages/:page/subscribers': {
    content: 'configured',
    path: '/api/status-pages/p0/subscribers',
    count: () => 0,
    isNeverEmpty: true,
  },
  '/api/tasks': { content: 'configured', path: '/api/tasks?limit=10000', count: upTo(10_000) },
  '/api/users': { content: 'configured', count: () => 2 },
  '/api/v2/alerts': { content: 'alerts', count: upTo(10_000) },
  '/api/v2/alerts/groups': { content: 'alerts', count: upTo(10_000) },
  '/api/v2/silences': { content: 'silences', count: upTo(10_000) },
  '/api/watches': { content: 'configured', count: upTo(1000) },
  '/protected/api/tasks': { content: 'configured', count: upTo(10_000) },
  '/simple/api/tasks': { content: 'configured', count: upTo(10_000) },
};

/** Lists about the machine or the program, independent of stored entries. */
const otherLists = ['/api/about/licences', '/api/disks', '/api/people', '/api/processes', '/api/v2/receivers'];

/** Lists that grow while other checks are running. */
const growingLists = ['/api/availability'];

/** Lists of hosts. */
const hostLists = ['/api/hosts', '/api/hosts/:name/processes'];

const isArray = (schema: unknown): boolean => (schema as { type?: unknown } | undefined)?.type === 'array';

interface ListResponse {
  properties?: Record<string, unknown>;
  /** Set if a route also sends CSV. */
  content?: { 'application/json'?: { schema: ListResponse } };
}

/** True for a route that responds with an array, or with an array as `data`. */
const isList = ({ method, schema }: Route): boolean => {
  const { 200: response } = (schema.response ?? {}) as Record<number, ListResponse>;
  const body = response?.content?.['application/json']?.schema ?? response;
  return method === 'GET' && (isArray(body) || isArray(body?.properties?.['data']));
};

const create = <T>(count: number, toEntry: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => toEntry(at));

const createSettings = (stored: number): object => ({
  destinations: create(upTo(100)(stored), (index) => ({
    name: `d${index}`,
    type: 'webhook',
    url: 'http://127.0.0.1:1/',
    notify: 'incidents',
  })),
  rotations: create(upTo(16)(stored), (index) => ({
    name: `r${index}`,
    members: [`d${index}`, `d${index + 1}`].slice(0, stored),
    handover: '0 9 * * *',
  })),
  heartbeats: create(upTo(5000)(stored), (index) => ({ name: `h${index}`, period: 86_400 })),
  watches: create(upTo(1000)(stored), (index) => ({ name: `w${index}`, type: 'memory', limit: 100 })),
  keys: create(upTo(1000)(stored), (index) => ({
    name: `k${index}`,
    scopes: ['alerts:write'],
    sha256: index.toString(16).padStart(64, '0'),
  })),
  statusPages: create(upTo(50)(stored), (index) => ({ name: `p${index}`, title: 'a page', groups: [] })),
  intake: create(upTo(100)(stored), (index) => ({ name: `f${index}`, message: '{/text}' })),
});

const createSeed = (stored: number): object => ({
  tasks: create(stored, () => ({ Title: 'a task' })),
  simpleTasks: create(stored, () => ({ title: 'a task' })),
  items: create(stored, () => ({ name: 'an item' })),
});

const admin = signToken(createClaims());

/** Sends requests, some at a time. All of them must get the status. */
const sendAll = async (
  app: TestApp,
  count: number,
  toRequest: (index: number) => [path: string, body: unknown],
  status = 200,
) => {
  for (let from = 0; from < count; from += 50) {
    await Promise.all(
      create(Math.min(50, count - from), async (index) => {
        const [path, body] = toRequest(from + index);
        const response = await app.request('POST', path, { token: admin, body });
        assert.equal(response.status, status, `${path}: ${response.text}`);
      }),
    );
  }
};

/** Stores alerts of `count` incidents. */
const fire = async (app: TestApp, count: number): Promise<void> => {
  const alerts = create(count, (index) => ({ labels: { alertname: `alert ${index}`, severity: 'error' } }));
  for (let from = 0; from < count; from += 500) {
    await sendAll(app, 1, () => ['/api/v2/alerts', alerts.slice(from, from + 500)]);
  }
};

const storeAlerts = async (app: TestApp, stored: number): Promise<void> => {
  const events = create(stored, (index) => ({
    specversion: '1.0',
    id: `${index}`,
    type: 'broken',
    source: 'test',
    data: { message: 'broken', severity: 'error' },
  }));
  for (let from = 0; from < stored; from += 500) {
    await sendAll(app, 1, () => ['/api/alert/cloudevents', events.slice(from, from + 500)]);
  }
  await fire(app, Math.max(0, stored - 1));
  await sendAll(app, upTo(100)(stored), () => ['/ping/h0', '']);
  const path = '/api/notifications?limit=1000';
  await waitUntil('all incidents have been notified', async () => {
    const { json } = await app.request<{ data: unknown[] }>('GET', path, { token: admin });
    return json.data.length === upTo(1000)(stored);
  });
};

/**
 * Returns the entries of a list. Checks that further requests on the same connection, pipelined and later, are
 * answered.
 */
const readList = async ({ url }: TestApp, path: string, token: string): Promise<unknown[]> => {
  const connection = openConnection(url);
  const list = get(path, `Authorization: Bearer ${token}`);
  connection.send(list + get('/livez'));
  const responses = await connection.responses(2);
  connection.send(list);
  responses.push(...(await connection.responses(1)));
  connection.send(list.replace('GET', 'HEAD'));
  const head = await connection.next(true);
  connection.send(get('/livez', 'Connection: close'));
  responses.push(...(await connection.closed()).responses);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200, 200],
    path,
  );
  // Simple tasks have no HEAD.
  assert.equal(head?.status, path.startsWith('/simple/') ? 404 : 200, path);
  const [first, live, second, after] = responses.map(({ body }) => JSON.parse(String(body)));
  for (const each of [live, after]) assert.equal(each.status, 'healthy', path);
  const [entries, again] = [first, second].map((body) => (Array.isArray(body) ? body : body.data));
  assert.equal(again.length, entries.length, path);
  if (first.count !== undefined) assert.equal(first.count, entries.length, path);
  return entries;
};

const appendTo = async (directory: string, name: string, records: readonly LogRecord[]): Promise<void> => {
  const log = await openJournal({ directory, name, minFreeBytes: 0 });
  for (let from = 0; from < records.length; from += 500) {
    await Promise.all(records.slice(from, from + 500).map((record) => log.append(record)));
  }
  await log.close();
};

/** Returns a runtime setting in the form of the settings log. */
const toStoredSetting = (kind: string, name: string, value: object) => ({
  kind,
  name,
  value,
  by: 'anna',
  at: Date.now(),
});

/**
 * Creates a folder with the entries that would take too long to create through requests: settings, and the audit of
 * commands.
 */
const createDataDir = async (t: TestContext, content: Content, stored: number): Promise<string> => {
  const directory = join(createFolder(t), 'data');
  const [from, to] = [Date.now(), Date.now() + day];
  const common = { comment: '', createdBy: 'anna' };
  // No version has this type.
  const broken = create(stored, (index) => toStoredSetting('watch', `b${index}`, { type: 'moon' }));
  const overrides = create(upTo(1000)(stored), (index) => {
    const times = { startsAt: to + index * day, endsAt: to + (index + 1) * day };
    return toStoredSetting('override', createId(from), { rotation: 'r0', member: 'd0', ...times, ...common });
  });
  const silences = create(stored, (index) =>
    toStoredSetting('silence', createId(from), {
      matching: { match: { source: `silenced ${index}` } },
      startsAt: from,
      endsAt: to,
      ...common,
    }),
  );
  const caller = { requestId: 'req-1', user: 'anna', role: 'Admin', remoteAddress: '127.0.0.1' };
  const refused = { command: 'Get-Nothing', parameters: null, decision: 'refused', reason: 'unknown', exit: null };
  const executions = create(2 * stored, () => ({ time: new Date(from).toISOString(), ...caller, ...refused }));
  await appendTo(directory, 'settings', { configured: [...broken, ...overrides], alerts: [], silences }[content]);
  if (content === 'alerts') await appendTo(directory, 'commands', executions);
  return directory;
};

const startFilled = async (t: TestContext, content: Content, stored: number): Promise<TestApp> => {
  const dataDir = await createDataDir(t, content, stored);
  const common = { timeZone: 'UTC', maxEventLoopDelay: 0, dataDir };
  if (content === 'configured') {
    return startApp(t, { settings: { ...common, ...createSettings(stored) }, seed: createSeed(stored) });
  }
  const { url } = await startReceiver(t);
  const destinations = [{ name: 'd0', type: 'webhook', url, notify: 'incidents', groupSeconds: 1 }];
  const heartbeats = [{ name: 'h0', period: 86_400 }];
  const app = await startApp(t, { settings: { ...common, destinations, heartbeats } });
  if (content === 'alerts') await storeAlerts(app, stored);
  return app;
};

for (const content of ['configured', 'alerts', 'silences'] as const) {
  for (const stored of sizes[content]) {
    test(`a list with ${stored} entries is complete, and so is the response after it: ${content}`, async (t) => {
      const app = await startFilled(t, content, stored);
      const token = await app.login('admin');
      for (const [route, list] of Object.entries(storedLists)) {
        const { path = route, count, isNeverEmpty } = list;
        if (list.content !== content || (stored === 0 && isNeverEmpty)) continue;
        const { length } = await readList(app, path, token);
        if (count) assert.equal(length, count(stored), path);
      }
    });
  }
}

test('a list about the machine or the program is complete, and so is the response after it', async (t) => {
  const app = await startApp(t);
  for (const path of otherLists) assert.ok((await readList(app, path, admin)).length > 0, path);
});

test('a list of hosts is complete, and so is the response after it', async (t) => {
  const app = await startApp(t);
  const key = await enrol(app, admin, 'web-1');
  const unknown = { parentPid: null, cpu: null, cpuSeconds: null, threads: null, startedAt: null };
  const processes = [{ pid: 1, name: 'init', user: 'root', memoryBytes: 4096, ...unknown }];
  const { status, text } = await report(app, key, 'web-1', { processes });
  assert.equal(status, 200, text);
  for (const path of hostLists) {
    assert.equal((await readList(app, path.replace(':name', 'web-1'), admin)).length, 1, path);
  }
});

test('a list of up to 1,000 users is complete, and so is the response after it', async (t) => {
  for (const stored of [1, 51, 1000]) {
    const hash = '$argon2id$v=19$m=19456,t=2,p=1$cGxhbnRlZHNhbHQ$cGxhbnRlZHNhbHRjcGxhbnRlZHNhbHQ';
    const users = create(stored, (index) => ({ name: `u${index}`, role: 'Reader', passwordHash: hash }));
    const app = await startApp(t, { settings: { users, adminPassword: undefined, readerPassword: undefined } });
    assert.equal((await readList(app, '/api/users', admin)).length, stored);
  }
});

test('a list of up to 100 sessions is complete, and so is the response after it', async (t) => {
  const app = await startApp(t);
  const now = Math.floor(Date.now() / 1000);
  for (let sessions = 1; sessions <= 101; sessions += 1) {
    const token = signToken(createClaims({ iat: now - sessions, exp: now - sessions + 3600 }));
    const { json, status } = await app.request('POST', '/api/sessions/renew', { token });
    assert.equal(status, 200);
    if (![1, 51, 100, 101].includes(sessions)) continue;
    assert.equal((await readList(app, '/api/sessions', String(json['token']))).length, Math.min(sessions, 100));
  }
});

test('the tests cover all lists of the API', async (t) => {
  const routes = listServedRoutes(await startApp(t)).filter(isList);
  const known = [...Object.keys(storedLists), ...otherLists, ...growingLists, ...hostLists];
  assert.deepEqual(routes.map(({ path }) => path).sort(), known.sort());
});

test('a route whose async handler sends a list does not compile', () => {
  const common = { method: 'GET', path: '/', ...needs('alerts:read'), summary: 'A list', schema: {} } as const;
  const list = { opening: '[', pieces: [], closing: ']' };
  defineRoute({ ...common, handler: (_request, reply) => sendList(reply, list) });
  // @ts-expect-error Fastify would send an empty response beside it.
  defineRoute({ ...common, handler: async (_request, reply) => sendList(reply, list) });
});
