import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { adminToken } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { strong } from './support/accounts.ts';

const endsAt = '2036-01-31T08:30:00Z';
const inAYear = new Date(Date.now() + 365 * 24 * 60 * 60_000).toISOString();

/** Routes of runtime settings, each with a body that the route accepts. */
const routes: [method: string, path: string, body: object][] = [
  ['POST', '/api/watches', { name: 'disks', type: 'disk', limit: 90 }],
  ['POST', '/api/watches/test', { name: 'disks', type: 'disk', limit: 90 }],
  ['PUT', '/api/watches/disks', { name: 'disks', type: 'disk', limit: 90 }],
  ['PUT', '/api/heartbeats/backup', { period: 60 }],
  ['POST', '/api/silences', { match: { source: 'backup' }, endsAt }],
  ['PUT', '/api/destinations/hook', { type: 'webhook', sources: ['none'] }],
  ['PUT', '/api/intake-formats/builds', { message: '{/text}' }],
  ['POST', '/api/users', { name: 'ben', role: 'Reader', password: strong }],
  ['PUT', '/api/users/ben', { role: 'Admin' }],
  ['POST', '/api/keys', { name: 'grafana', scopes: ['alerts:read'] }],
  ['POST', '/api/oncall/overrides', { rotation: 'oncall', member: 'anna', endsAt: inAYear }],
];

test('an unknown member is refused by name, and nothing changes', async (t) => {
  const { url } = await startReceiver(t);
  const person = { name: 'anna', type: 'webhook', url, notify: 'incidents' };
  const rotations = [{ name: 'oncall', members: ['anna'], handover: '0 9 * * 1' }];
  const app = await startApp(t, { settings: { destinations: [person], rotations } });
  const token = await adminToken(app);
  const send = async (method: string, path: string, body: object) =>
    await app.request<{ error?: string }>(method, path, { token, body });
  for (const [method, path, body] of routes) {
    const whole = path.startsWith('/api/destinations') ? { ...body, url } : body;
    const refused = await send(method, path, { ...whole, colour: 'red' });
    assert.equal(refused.status, 400, `${method} ${path}`);
    assert.match(String(refused.json.error), /^colour is unknown/);
    assert.ok((await send(method, path, whole)).status < 300, `${method} ${path}`);
  }
  const { json } = await app.request<{ count: number }>('GET', '/api/audit', { token });
  assert.equal(json.count, routes.length - 1);
});

const matcher = { name: 'alertname', value: 'Disk', isRegex: false, isEqual: true };

test('the refusal of a misspelt member names the nearest known member', async (t) => {
  const app = await startApp(t);
  const token = await adminToken(app);
  const misspelt: [path: string, body: object, message: string][] = [
    ['watches', { name: 'disks', type: 'disk', limit: 90, mount: ['/srv'] }, 'mount is unknown; did you mean mounts?'],
    ['silences', { match: { sources: 'a' }, endsAt }, 'match.sources is unknown; did you mean source?'],
    ['silences', { matchers: [matcher, { ...matcher, isEquals: false }], endsAt }, 'matchers[1].isEquals is unknown'],
    [
      'intake-formats/a/test',
      { body: {}, definition: { message: 'a', labels: {}, sourc: 'b' } },
      'definition.sourc is',
    ],
    ['keys', { name: 'a', scopes: ['alerts:read'], Scope: 'x' }, 'Scope is unknown; did you mean scope?'],
    ['users', { name: 'a', role: 'Admin', password: strong, Roll: 1 }, 'Roll is unknown; did you mean role?'],
  ];
  for (const [path, body, message] of misspelt) {
    const { status, json } = await app.request<{ error: string }>('POST', `/api/${path}`, { token, body });
    assert.equal(status, 400);
    assert.ok(json.error.startsWith(message), json.error);
  }
  const put = await app.request<{ error: string }>('PUT', '/api/destinations/hook', {
    token,
    body: { type: 'webhook', url: 'https://pager.example.org', level: ['ERROR'] },
  });
  assert.deepEqual([put.status, put.json.error], [400, 'level is unknown; did you mean levels?']);
});

test('the matchers of a silence have exactly four members, and a silence can be sent back whole', async (t) => {
  const app = await startApp(t);
  const token = await adminToken(app);
  const silence = {
    matchers: [{ ...matcher, color: 'red' }],
    endsAt,
    startsAt: '2026-01-01T00:00:00Z',
    comment: 'a',
    createdBy: 'b',
  };
  assert.equal((await app.request('POST', '/api/v2/silences', { token, body: silence })).status, 200);
  const { json } = await app.request<{ data: { id: string; matchers: object[] }[] }>('GET', '/api/silences', { token });
  const [created] = json.data;
  assert.deepEqual(created?.matchers, [matcher]);
  assert.equal((await app.request('PUT', `/api/silences/${created?.id}`, { token, body: created })).status, 200);
  const body = { matchers: [{ ...matcher, colour: 'red' }], endsAt };
  const refused = await app.request<{ error: string }>('PUT', `/api/silences/${created?.id}`, { token, body });
  assert.deepEqual([refused.status, refused.json.error.split(' is')[0]], [400, 'matchers[0].colour']);
});

test('a response with a heartbeat, a silence or a user can be changed and sent back whole', async (t) => {
  const app = await startApp(t);
  const token = await adminToken(app);
  const created = await Promise.all([
    app.request<{ name: string }>('PUT', '/api/heartbeats/backup', { token, body: { period: 60 } }),
    app.request<{ id: string }>('POST', '/api/silences', { token, body: { match: { source: 'backup' }, endsAt } }),
    app.request('POST', '/api/users', { token, body: { name: 'ben', role: 'Reader', password: strong } }),
  ]);
  const paths = ['/api/heartbeats/backup', `/api/silences/${created[1].json.id}`, '/api/users/ben'];
  for (const path of paths) {
    const { json } = await app.request('GET', path, { token });
    const back = await app.request('PUT', path, { token, body: json as object });
    assert.equal(back.status, 200, JSON.stringify(back.json));
  }
});
