import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../../../test/support/app.ts';
import type { JsonResponse } from '../../../../../test/support/client.ts';
import { adminToken } from '../../../../../test/support/outbox.ts';
import { toSkipPostgres } from '../../../../../test/support/postgres/installation.ts';
import { startPostgres } from '../../../../../test/support/postgres/server.ts';
import { createDatabase } from '../../../../../test/support/postgres/shared-server.ts';
import { fc } from '../../../../../test/support/random.ts';
import { createTestStore } from '../../../../../test/support/test-store.ts';
import { waitUntil } from '../../../../../test/support/wait.ts';

interface Answer {
  error: string;
  ids: string[];
  origin: string;
  count: number;
  repeated: number;
  data: Record<string, unknown>[];
}

const gitlab = {
  match: { '/object_kind': ['pipeline', 'build'] },
  source: 'gitlab/{/project/name}',
  level: { '/status': { failed: 'ERROR', '*': 'INFO' } },
  status: { '/status': { success: 'resolved', '*': 'firing' } },
  message: 'Pipeline {/id} of {/project/name}: {/status}',
  key: '{/project/name}',
  hostname: '{/runner}',
  link: '{/url}',
  labels: { branch: '{/ref}', tags: '{/tags}', none: '{/missing}' },
};

const pipeline = {
  object_kind: 'pipeline',
  id: 7,
  status: 'failed',
  ref: 'main',
  tags: ['web', 'db'],
  runner: null,
  project: { name: 'shop' },
  url: 'https://gitlab.example.org/shop/7?private_token=planted',
};

const host = {
  each: '/alerts',
  message: '{/text} in {#/cluster}',
  labels: '/labels',
  level: '{/severity}',
  hostname: '{/a~1b/0}',
};

const send = (app: TestApp, format: string, body: unknown): Promise<JsonResponse<Answer>> =>
  app.request<Answer>('POST', `/api/alert/${format}`, { body: body as object });

const manage = async (app: TestApp, method: string, path: string, body?: object, headers = {}) =>
  app.request<Answer>(method, `/api/intake-formats${path}`, { token: await adminToken(app), body, headers });

const listStored = async (app: TestApp): Promise<Record<string, unknown>[]> => {
  const { json } = await app.request<Answer>('GET', '/api/alerts/search', { token: await adminToken(app) });
  return json.data.toReversed();
};

const withFormats = {
  intake: [
    { name: 'gitlab', ...gitlab },
    { name: 'hosts', ...host },
  ],
};

test('a format of the config file maps a body to an alert, and a resolved alert resolves the first', async (t) => {
  const app = await startApp(t, { settings: withFormats });
  const first = await send(app, 'gitlab', pipeline);
  assert.deepEqual([first.status, first.json.ids.length, first.json.repeated], [200, 1, 0]);
  assert.equal((await send(app, 'gitlab', pipeline)).json.repeated, 1);
  await send(app, 'gitlab', { ...pipeline, id: 8, status: 'success' });
  const [failed = {}, solved = {}, ...others] = await listStored(app);
  assert.deepEqual(others, []);
  const shown = ['source', 'level', 'message', 'hostname', 'format', 'status', 'fingerprint', 'labels', 'link'];
  assert.deepEqual(
    shown.map((name) => failed[name]),
    [
      'gitlab/shop',
      'ERROR',
      'Pipeline 7 of shop: failed',
      'unknown',
      'gitlab',
      'firing',
      'shop',
      { branch: 'main', tags: 'web, db' },
      'https://gitlab.example.org/shop/7',
    ],
  );
  assert.deepEqual([solved['status'], solved['level'], solved['resolves']], ['resolved', 'INFO', failed['id']]);
});

test('each element of a list is an alert, with pointers into the element and into the whole body', async (t) => {
  const app = await startApp(t, { settings: withFormats });
  const alerts = [
    { text: 'one', severity: 'crit', labels: { team: 'db', deep: { x: 1 } }, 'a/b': ['web-1:9100'] },
    'no object',
    { text: 'three' },
  ];
  const { status, json } = await send(app, 'hosts', { cluster: 'north', alerts });
  assert.deepEqual([status, json.ids.length], [200, 3]);
  assert.deepEqual(
    (await listStored(app)).map(({ message, level, hostname, labels }) => [message, level, hostname, labels]),
    [
      ['one in north', 'CRITICAL', 'web-1', { team: 'db' }],
      ['in north', 'WARNING', 'unknown', {}],
      ['three in north', 'WARNING', 'unknown', {}],
    ],
  );
  assert.equal((await send(app, 'hosts', { cluster: 'north', alerts: [] })).json.ids.length, 0);
});

test('a body that does not fit the format is refused with the reason, and nothing is stored', async (t) => {
  const app = await startApp(t, { settings: withFormats });
  const refused: [format: string, body: unknown, status: number, error: RegExp][] = [
    ['gitlab', { ...pipeline, object_kind: 'push' }, 400, /^\/object_kind must be "pipeline" or "build"$/],
    ['gitlab', [], 400, /object_kind/],
    ['gitlab', '5', 400, /must be an object or a list/],
    ['gitlab', '{', 400, /not valid JSON/],
    ['hosts', { alerts: 5 }, 400, /^\/alerts must be a list$/],
    ['hosts', {}, 400, /^\/alerts must be a list$/],
    ['hosts', { alerts: Array(1001).fill({}) }, 413, /at most 1000 alerts/],
    ['hosts', `{"alerts":["${'x'.repeat(8 * 1024 * 1024)}"]}`, 413, /larger than 8 MiB/],
    ['other', {}, 404, /Format other not found/],
    ['constructor', {}, 404, /Format constructor not found/],
  ];
  for (const [format, body, status, error] of refused) {
    const response = await send(app, format, body);
    assert.equal(response.status, status, JSON.stringify(response.json));
    assert.match(response.json.error, error);
  }
  assert.deepEqual(await listStored(app), []);
  const metrics = await app.request('GET', '/metrics', { token: await adminToken(app) });
  assert.match(metrics.text, /signalbox_alerts_invalid_total\{format="gitlab"\} 4/);
  assert.ok(!metrics.text.includes('format="other"'));
});

test('an unusable format in the config file stops startup with one line of advice', async (t) => {
  const bad: [format: object, problem: RegExp][] = [
    [{ name: 'Git Lab', message: 'x' }, /lower-case letters/],
    [{ name: 'grafana', message: 'x' }, /intake\.grafana is a built-in format: choose another name/],
    [{ name: 'auto', message: 'x' }, /choose another name/],
    [{ name: 'a', message: 'x', colour: 'red' }, /colour/],
    [{ name: 'a' }, /message/],
    [{ name: 'a', message: '{title}' }, /intake\.a\.message: "title" is not a JSON Pointer such as \/project\/name/],
    [{ name: 'a', message: '{/a~2}' }, /intake\.a\.message: .* write ~ as ~0/],
    [{ name: 'a', message: 'x', each: 'alerts' }, /intake\.a\.each: "alerts" is not a JSON Pointer/],
    [{ name: 'a', message: 'x', match: { kind: 'x' } }, /intake\.a\.match: "kind" is not a JSON Pointer/],
    [{ name: 'a', message: 'x', level: 'awful' }, /intake\.a\.level: "awful" is not a level such as ERROR/],
    [{ name: 'a', message: 'x', level: {} }, /intake\.a\.level: must be a string, or an object/],
    [{ name: 'a', message: 'x', status: { '/a': { b: 'closed' } } }, /"closed" is not firing or resolved/],
    [{ name: 'a', message: 'x', labels: { team: '{x}' } }, /intake\.a\.labels: team: "x" is not a JSON Pointer/],
    [{ name: 'a', message: 'x'.repeat(2001) }, /2000/],
  ];
  for (const [format, problem] of bad) {
    await assert.rejects(startApp(t, { settings: { intake: [format] } }), problem);
  }
  const twice = { name: 'a', message: 'x' };
  await assert.rejects(startApp(t, { settings: { intake: [twice, twice] } }), /intake\.a is defined twice/);
});

test('a format created at run time works at once, also after a restart, until it is deleted', async (t) => {
  const store = await createTestStore(t);
  const app = await startApp(t, { settings: store });
  assert.equal((await send(app, 'builds', {})).status, 404);
  const created = await manage(app, 'PUT', '/builds', { message: '{/text}' }, { 'if-none-match': '*' });
  assert.deepEqual([created.status, created.json.origin], [201, 'made']);
  assert.equal((await send(app, 'builds', { text: 'first' })).status, 200);
  const etag = String(created.headers['etag']);
  const changed = await manage(app, 'PUT', '/builds', { message: 'Build: {/text}' }, { 'if-match': etag });
  assert.equal(changed.status, 200);
  assert.equal((await manage(app, 'PUT', '/builds', { message: 'x' }, { 'if-match': etag })).status, 412);
  assert.equal((await manage(app, 'DELETE', '/builds', undefined, { 'if-match': etag })).status, 412);
  await send(app, 'builds', { text: 'second' });
  await app.close();
  const again = await startApp(t, { settings: { ...store, dataDir: join(app.folder, 'data') } });
  await send(again, 'builds', { text: 'third' });
  assert.deepEqual(
    (await listStored(again)).map(({ message }) => message),
    ['first', 'Build: second', 'Build: third'],
  );
  assert.equal((await manage(again, 'DELETE', '/builds')).status, 200);
  assert.equal((await send(again, 'builds', {})).status, 404);
  assert.equal((await manage(again, 'DELETE', '/builds')).status, 404);
  const { json } = await again.request<Answer>('GET', '/api/audit?kind=intake', { token: await adminToken(again) });
  assert.deepEqual(
    json.data.map(({ name, by, change }) => [name, by, change]),
    [
      ['builds', 'admin', 'deleted'],
      ['builds', 'admin', 'put'],
      ['builds', 'admin', 'put'],
    ],
  );
});

test('an unusable format is refused, and no format changes', async (t) => {
  const app = await startApp(t, { settings: withFormats });
  const message = 'x';
  const refused: [path: string, body: object, status: number, error: RegExp][] = [
    ['/gitlab', { message }, 409, /in the config file: edit it there/],
    ['/slack', { message }, 409, /Format slack is built in/],
    ['/auto', { message }, 409, /choose another name/],
    ['/Big', { message }, 400, /lower-case/],
    ['/a', {}, 400, /message/],
    ['/a', { message, name: 'b' }, 400, /both must be equal/],
    ['/a', { message, mesage: 'x' }, 400, /mesage is unknown/],
    ['/a', { message: '{x}' }, 400, /^message: "x" is not a JSON Pointer/],
    ['/a', { message, level: { '/a': { b: 'x' }, '/b': {} } }, 400, /level/],
  ];
  for (const [path, body, status, error] of refused) {
    const response = await manage(app, 'PUT', path, body);
    assert.equal(response.status, status, path + JSON.stringify(response.json));
    assert.match(response.json.error, error);
  }
  assert.equal((await manage(app, 'DELETE', '/gitlab')).status, 409);
  const { json } = await manage(app, 'GET', '');
  assert.deepEqual(
    json.data.map(({ name, origin, definition }) => [name, origin, definition]),
    [
      ['gitlab', 'config', gitlab],
      ['hosts', 'config', host],
    ],
  );
});

test('a test shows the alerts of a stored format or of a given definition, and stores nothing', async (t) => {
  const app = await startApp(t, { settings: withFormats });
  const { status, json } = await manage(app, 'POST', '/gitlab/test', { body: pipeline });
  assert.equal(status, 200);
  assert.deepEqual(json, {
    count: 1,
    data: [
      {
        source: 'gitlab/shop',
        level: 'ERROR',
        message: 'Pipeline 7 of shop: failed',
        hostname: 'unknown',
        status: 'firing',
        key: 'shop',
        labels: { branch: 'main', tags: 'web, db' },
        link: 'https://gitlab.example.org/shop/7',
      },
    ],
  });
  const definition = { each: '/rows', message: 'Row {/n}' };
  const rows = Array.from({ length: 30 }, (_, n) => ({ n }));
  const other = await manage(app, 'POST', '/new/test', { body: { rows }, definition });
  assert.deepEqual([other.json.count, other.json.data.length, other.json.data[3]?.['message']], [30, 20, 'Row 3']);
  const refused: [path: string, body: object, status: number][] = [
    ['/gitlab/test', { body: {} }, 400],
    ['/gitlab/test', {}, 400],
    ['/new/test', { body: {} }, 404],
    ['/new/test', { body: {}, definition: { message: '{x}' } }, 400],
    ['/new/test', { body: {}, definition: { message: 'x', colour: 1 } }, 400],
  ];
  for (const [path, body, expected] of refused) {
    const response = await manage(app, 'POST', path, body);
    assert.equal(response.status, expected, JSON.stringify(response.json));
  }
  assert.deepEqual(await listStored(app), []);
  assert.equal((await manage(app, 'GET', '/new')).status, 404);
});

test('with access login, only keys with alerts:write can use a format', async (t) => {
  const app = await startApp(t, { settings: { ...withFormats, access: 'login' } });
  const token = await adminToken(app);
  const keyOf = async (name: string, scope: string): Promise<string> => {
    const body = { name, scopes: [scope] };
    return String((await app.request('POST', '/api/keys', { token, body })).json['key']);
  };
  const [writer, reader] = [await keyOf('writer', 'alerts:write'), await keyOf('reader', 'alerts:read')];
  const statusOf = async (key?: string) =>
    (await app.request('POST', '/api/alert/gitlab', { body: pipeline, ...(key !== undefined && { token: key }) }))
      .status;
  assert.deepEqual([await statusOf(), await statusOf(reader), await statusOf(writer)], [401, 403, 200]);
  assert.equal((await listStored(app))[0]?.['sender'], 'key:writer');
});

test('instances that share a database have the same formats', { skip: toSkipPostgres() }, async (t) => {
  const settings = { store: await createDatabase(), timeZone: 'UTC', ...withFormats };
  const [one, other] = await Promise.all([startApp(t, { settings }), startApp(t, { settings })]);
  assert.equal((await send(one, 'gitlab', pipeline)).status, 200);
  await manage(one, 'PUT', '/builds', { message: '{/text}' });
  const sent = async () => (await send(other, 'builds', { text: 'from the other' })).status;
  await waitUntil('the other instance has the format', async () => (await sent()) === 200, 5000);
  assert.deepEqual(
    new Set((await listStored(one)).map(({ message }) => message)),
    new Set(['Pipeline 7 of shop: failed', 'from the other']),
  );
  await manage(other, 'DELETE', '/builds');
  await waitUntil(
    'the first instance has no such format',
    async () => (await send(one, 'builds', {})).status === 404,
    5000,
  );
});

test('a sender gets 503 while the formats are unknown', {
  skip: toSkipPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const settings = { store: server.url(), timeZone: 'UTC', ...withFormats };
  const first = await startApp(t, { settings });
  assert.equal((await manage(first, 'PUT', '/builds', { message: '{/text}' })).status, 201);
  await first.close();
  await server.stop('SIGKILL');
  const app = await startApp(t, { settings });
  const { status, headers } = await send(app, 'builds', { text: 'early' });
  assert.equal(status, 503);
  assert.ok(Number(headers['retry-after']) > 0);
  assert.equal((await send(app, 'gitlab', pipeline)).status, 200);
  await server.restart();
  await waitUntil(
    'the formats are known',
    async () => (await send(app, 'builds', { text: 'late' })).status === 200,
    10_000,
  );
  assert.equal((await send(app, 'other', {})).status, 404);
});

test('any JSON is stored or refused', async (t) => {
  const app = await startApp(t, { settings: withFormats });
  const plain = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null));
  const close = fc.record(
    {
      object_kind: fc.constantFrom('pipeline', 'push', 1),
      status: fc.jsonValue(),
      project: fc.jsonValue(),
      tags: fc.array(plain),
      url: fc.webUrl(),
      alerts: fc.oneof(fc.array(fc.record({ text: plain, labels: fc.jsonValue() })), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(fc.jsonValue(), close).map((value) => JSON.stringify(value));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('gitlab', 'hosts'), body, async (format, text) => {
      const { status } = await send(app, format, text);
      assert.ok(status === 200 || status === 400, `${status} for ${text}`);
    }),
    { numRuns: 300 },
  );
  const deep = 150_000;
  for (const text of [
    `{"object_kind":"pipeline","tags":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    `{"alerts":[${'{"labels":'.repeat(deep / 2)}1${'}'.repeat(deep / 2)}]}`,
    `{"__proto__":{"alerts":[]}}`,
  ]) {
    const [stored, tested] = [await send(app, 'gitlab', text), await send(app, 'hosts', text)];
    assert.ok([200, 400].includes(stored.status) && [200, 400].includes(tested.status), text.slice(0, 40));
  }
});
