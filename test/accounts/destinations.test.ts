import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import type { JsonResponse } from '../support/client.ts';
import { adminToken, readState } from '../support/outbox.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

interface Shown {
  name: string;
  origin: string;
  settings: Record<string, unknown>;
  hidden: string[];
  version: number | null;
  error: string;
}

const call = async <T = Shown>(
  app: TestApp,
  method: string,
  path: string,
  body?: object,
  headers = {},
): Promise<JsonResponse<T>> =>
  app.request<T>(method, `/api/destinations${path}`, { token: await adminToken(app), body, headers });

const secret = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;

const send = (app: TestApp, message: string) => app.request('POST', '/api/alert', { body: { message } });

test('a destination gets alerts immediately after its creation, its changes and a restart, and none after its deletion', async (t) => {
  const [receiver, other] = [await startReceiver(t), await startReceiver(t)];
  const app = await startApp(t);
  const created = await call(app, 'PUT', '/hook', { type: 'webhook', url: `${receiver.url}/secret-path`, secret });
  assert.deepEqual([created.status, created.json.origin, created.json.hidden], [201, 'made', ['url', 'secret']]);
  assert.deepEqual(created.json.settings, { type: 'webhook', url: `${receiver.url}/***` });
  assert.equal(created.headers['etag'], `"${created.json.version}"`);
  assert.equal((await call<{ delivered: boolean }>(app, 'POST', '/hook/test')).json.delivered, true);
  await send(app, 'first');
  await waitUntil('the alert has arrived', () => receiver.requests.length === 2);
  assert.ok(receiver.requests.every(({ path, headers }) => path === '/secret-path' && headers['webhook-signature']));

  const moved = await call(app, 'PUT', '/hook', {
    type: 'webhook',
    url: `${other.url}/hook`,
    headers: { 'x-team': 'a' },
  });
  assert.deepEqual([moved.status, moved.json.hidden], [200, ['url', 'headers']]);
  await send(app, 'second');
  await waitUntil('the alert has arrived at the new address', () => other.requests.length === 1);
  const [got] = other.requests;
  assert.deepEqual([got?.headers['x-team'], got?.headers['webhook-signature']], ['a', undefined]);

  await app.close();
  const again = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  await send(again, 'third');
  await waitUntil('the alert arrives after a restart', () => other.requests.length === 2);
  assert.equal((await call(again, 'DELETE', '/hook')).status, 200);
  assert.equal((await call(again, 'GET', '/hook')).status, 404);
  assert.equal((await call(again, 'DELETE', '/hook')).status, 404);
  assert.equal((await call(again, 'POST', '/hook/test')).status, 404);
  await send(again, 'fourth');
  const { json } = await again.request<{ count: number }>('GET', '/api/deliveries', { token: await adminToken(again) });
  assert.equal(json.count, 0);
  assert.equal(other.requests.length, 2);
});

test('secrets that a request omits stay, and are never sent to another address', async (t) => {
  const [receiver, other] = [await startReceiver(t), await startReceiver(t)];
  const app = await startApp(t);
  const url = `${receiver.url}/hook`;
  const first = { type: 'webhook', url, token: 'planted-token', headers: { 'x-key': 'planted-header' } };
  await call(app, 'PUT', '/hook', first);
  const { json: shown } = await call(app, 'GET', '/hook');
  const kept = [
    { ...shown.settings, levels: ['ERROR'] },
    { type: 'webhook', levels: ['ERROR', 'CRITICAL'] },
    { type: 'webhook', url, concurrency: 2 },
  ];
  for (const body of kept) {
    const { status, json } = await call(app, 'PUT', '/hook', body);
    assert.deepEqual([status, json.hidden], [200, ['url', 'token', 'headers']]);
    await call(app, 'POST', '/hook/test');
    const { path, headers } = receiver.requests.at(-1) ?? assert.fail();
    assert.deepEqual(
      [path, headers.authorization, headers['x-key']],
      ['/hook', 'Bearer planted-token', 'planted-header'],
    );
  }
  for (const elsewhere of [`${other.url}/hook`, url.replace('127.0.0.1', 'localhost'), url.replace('http', 'https')]) {
    const refused = await call(app, 'PUT', '/hook', { type: 'webhook', url: elsewhere });
    assert.equal(refused.status, 400);
    assert.match(refused.json.error, /the new host in url/);
  }
  assert.equal(other.requests.length, 0);
  // The shown settings of a destination do not contain its secrets.
  const copied = await call(app, 'PUT', '/copy', { ...shown.settings, headers: {} });
  assert.deepEqual([copied.status, /whole URL/.test(copied.json.error)], [400, true]);
  const one = await call(app, 'PUT', '/hook', { type: 'webhook', token: 'other' });
  assert.deepEqual(one.json.hidden, ['url', 'token']);
  const none = await call(app, 'PUT', '/hook', { type: 'webhook', url: `${other.url}/`, headers: {} });
  assert.deepEqual([none.json.hidden, none.json.settings['url']], [[], other.url]);
});

test('a destination can be sent in the form of the config file, with the name of its path', async (t) => {
  const app = await startApp(t);
  const given = { name: 'hook', type: 'webhook', url: 'http://127.0.0.1:9/' };
  const put = async (name: string) =>
    app.request('PUT', `/api/destinations/${name}`, { token: await adminToken(app), body: given });
  assert.equal((await put('hook')).status, 201);
  const { status, json } = await put('other');
  assert.deepEqual([status, json['error']], [400, 'name is hook, but the path has other: both must be equal']);
});

test('destinations of the config file are listed without secrets and cannot be changed', async (t) => {
  const receiver = await startReceiver(t);
  const hook = { name: 'hook', type: 'webhook', url: `${receiver.url}/planted-path`, secret };
  const app = await startApp(t, { settings: { destinations: [hook] } });
  const { json } = await call<{ data: Shown[] }>(app, 'GET', '');
  assert.deepEqual(
    json.data.map(({ name, origin, hidden, version }) => [name, origin, hidden, version]),
    [['hook', 'config', ['url', 'secret'], null]],
  );
  for (const name of ['hook', 'HOOK']) {
    assert.equal((await call(app, 'PUT', `/${name}`, { type: 'webhook', url: receiver.url })).status, 409, name);
  }
  assert.equal((await call(app, 'DELETE', '/hook')).status, 409);
  assert.equal((await call<{ delivered: boolean }>(app, 'POST', '/hook/test')).json.delivered, true);
  await call(app, 'PUT', '/other', { type: 'webhook', url: receiver.url });
  assert.equal((await call(app, 'PUT', '/Other', { type: 'webhook', url: receiver.url })).status, 409);
});

test('when two administrators change a destination, the second one gets 412', async (t) => {
  const { url } = await startReceiver(t);
  const app = await startApp(t);
  const { json } = await call(app, 'PUT', '/hook', { type: 'webhook', url });
  const headers = { 'if-match': `"${json.version}"` };
  const both = await Promise.all(
    [1, 2].map((concurrency) => call(app, 'PUT', '/hook', { type: 'webhook', concurrency }, headers)),
  );
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 412]);
  assert.equal((await call(app, 'DELETE', '/hook', undefined, headers)).status, 412);
});

test('of simultaneous new destinations whose names differ only in capitals, one is created', async (t) => {
  const { url } = await startReceiver(t);
  const app = await startApp(t);
  const token = await adminToken(app);
  const put = async (name: string): Promise<number> =>
    (
      await app.request('PUT', `/api/destinations/${name}`, {
        token,
        body: { type: 'webhook', url, sources: ['none'] },
      })
    ).status;
  const same = await Promise.all(['Pager', 'pager', 'PAGER'].map(put));
  assert.deepEqual(same.toSorted(), [201, 409, 409]);
});

test('an invalid destination is refused with advice, and changes nothing', async (t) => {
  const app = await startApp(t);
  const folder = join(app.folder, 'secrets');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a'), 'planted');
  const url = 'https://pager.example.org/x';
  const refused: [body: object, message: RegExp][] = [
    [{ url }, /type/],
    [{ type: 'webhook' }, /url is required/],
    [{ type: 'pigeon', url }, /type must be one of webhook/],
    [{ type: 'webhook', url: 'ftp://x' }, /url must begin with http/],
    [{ type: 'webhook', url: 'x' }, /url must begin with http/],
    [{ type: 'webhook', url: 'https://user:pass@x' }, /must not contain a user name/],
    [{ type: 'webhook', url, level: ['ERROR'] }, /level/],
    [{ type: 'webhook', url, levels: ['LOUD'] }, /not a severity/],
    [{ type: 'webhook', url, concurrency: 9 }, /concurrency/],
    [{ type: 'webhook', url, secretFile: join(folder, 'a') }, /be named only in the config file/],
    [{ type: 'webhook', url, tokenFile: join(folder, 'a') }, /be named only in the config file/],
    [{ type: 'webhook', url, headers: { 'x-a': { variable: 'PATH' } } }, /be named only in the config file/],
    [{ type: 'webhook', url, headers: { 'x-a': { file: join(folder, 'a') } } }, /be named only in the config file/],
    [
      { type: 'webhook', url: 'http://169.254.169.254/latest' },
      /^\S+ is not allowed by watchTargets: add the host to watchTargets, or define/,
    ],
    [
      { type: 'webhook', url: 'http://2852039166/latest' },
      /^\S+ is not allowed by watchTargets: add the host to watchTargets, or define/,
    ],
    [
      { type: 'webhook', url: 'http://[fd00:ec2::254]/' },
      /^\S+ is not allowed by watchTargets: add the host to watchTargets, or define/,
    ],
    [{ type: 'template', url, body: '{"a": {nothing}}' }, /placeholder/],
  ];
  for (const [body, message] of refused) {
    const { status, json } = await call(app, 'PUT', '/hook', body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(json.error, message);
  }
  for (const name of ['a.b', '.a', 'a%2Fb', 'ä', 'x'.repeat(65)]) {
    assert.equal(
      (await call(app, 'PUT', `/${encodeURI(decodeURI(name))}`, { type: 'webhook', url })).status,
      400,
      name,
    );
  }
  assert.equal((await call<{ count: number }>(app, 'GET', '')).json.count, 0);
});

test('secrets that a receiver repeats in any form are not shown', async (t) => {
  const { url } = await startReceiver(t, (response, { path, headers }) => {
    const [pathname = '', query] = path.split('?');
    const all = { pathname, query: Object.fromEntries(new URLSearchParams(query)), headers };
    response.end(`Cannot POST ${pathname}\n${JSON.stringify(all)}`);
  });
  const app = await startApp(t);
  await call(app, 'PUT', '/hook', {
    type: 'webhook',
    url: `${url}/planted-path?key=planted%20query&b=2`,
    headers: { 'x-quoted': 'planted "header" of it', authorization: `Basic ${btoa('planted:password')}` },
  });
  const { json } = await call<{ delivered: boolean; response: string }>(app, 'POST', '/hook/test');
  assert.ok(json.delivered);
  assert.doesNotMatch(json.response, /planted|header. of it|cGxhbnRlZ/);
  assert.match(json.response, /^200\nCannot POST \*\*\*\n/);
});

test('alerts wait while a destination fails, and are delivered once its settings are corrected', async (t) => {
  const receiver = await startReceiver(t, answer(500));
  const app = await startApp(t);
  await call(app, 'PUT', '/hook', { type: 'webhook', url: receiver.url });
  await send(app, 'late');
  await waitUntil('the delivery was tried', () => receiver.requests.length > 0);
  receiver.behave(answer(200));
  await call(app, 'PUT', '/hook', { type: 'webhook', url: `${receiver.url}/other` });
  await waitUntil('nothing waits', async () => (await readState(app)).lagAlerts === 0);
  assert.equal(receiver.requests.at(-1)?.path, '/other');
});

test('when two administrators create a destination with one name, the second one gets 412', async (t) => {
  const [first, second] = [await startReceiver(t), await startReceiver(t)];
  const app = await startApp(t);
  const create = (url: string, headers = {}) =>
    call(app, 'PUT', '/hook', { type: 'webhook', url }, { 'if-none-match': '*', ...headers });
  const both = await Promise.all([create(first.url), create(`${second.url}/elsewhere`)]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 412]);
  const created = both.find(({ status }) => status === 201) ?? assert.fail();
  const refused = both.find(({ status }) => status === 412) ?? assert.fail();
  assert.match(refused.json.error, /Destination hook already exists/);
  assert.equal(refused.headers['etag'], created.headers['etag']);
  assert.equal((await create(first.url, { 'if-match': String(created.headers['etag']) })).status, 412);
  assert.equal((await call(app, 'GET', '/hook')).json.version, created.json.version);
  assert.equal((await create(first.url, { 'if-none-match': '"1"' })).status, 400);
  const gone = await call(app, 'PUT', '/gone', { type: 'webhook', url: first.url }, { 'if-match': '*' });
  assert.deepEqual([gone.status, gone.json.error], [412, 'Destination gone no longer exists']);
});

test('a destination that is deleted and created again begins with later alerts, also after a restart', async (t) => {
  const receiver = await startReceiver(t);
  const broken = await startReceiver(t, answer(500));
  const app = await startApp(t);
  const [hook, slow] = [receiver, broken].map(({ url }) => ({ type: 'webhook', url }));
  await Promise.all([call(app, 'PUT', '/hook', hook), call(app, 'PUT', '/slow', slow)]);
  await send(app, 'before');
  await waitUntil('both destinations were tried', () => receiver.requests.length > 0 && broken.requests.length > 0);
  for (const name of ['hook', 'slow']) await call(app, 'DELETE', `/${name}`);
  await send(app, 'between');
  broken.behave(answer(200));
  const tried = broken.requests.length;
  await Promise.all([call(app, 'PUT', '/hook', hook), call(app, 'PUT', '/slow', slow)]);
  await send(app, 'after');
  const isLast = ({ requests }: typeof receiver, text: string) => requests.at(-1)?.body.includes(text) === true;
  await waitUntil('both receivers have the last alert', () => isLast(receiver, '"after"') && isLast(broken, '"after"'));
  // With files, a deletion is detected even if the server was stopped in the meantime.
  await app.close();
  const again = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  await send(again, 'late');
  await waitUntil('later alerts arrive', () => isLast(receiver, '"late"') && isLast(broken, '"late"'));
  const texts = (requests: readonly { body: string }[]) =>
    requests.map(({ body }) => /"message":"(\w+)"/.exec(body)?.[1]);
  assert.deepEqual(texts(receiver.requests), ['before', 'after', 'late']);
  assert.deepEqual(texts(broken.requests.slice(tried)), ['after', 'late']);
});

test('a destination of the config file with the name of a deleted destination begins with later alerts', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startApp(t);
  const hook = { type: 'webhook', url: receiver.url };
  await call(app, 'PUT', '/hook', hook);
  await send(app, 'before');
  await waitUntil('the alert has arrived', () => receiver.requests.length === 1);
  await call(app, 'DELETE', '/hook');
  await send(app, 'between');
  await app.close();
  const settings = { dataDir: join(app.folder, 'data'), destinations: [{ name: 'hook', ...hook }] };
  const configured = await startApp(t, { settings });
  await send(configured, 'after');
  await waitUntil('the next alert has arrived', () => receiver.requests.length === 2);
  await configured.close();
  // A destination that stays in the config file continues at its position.
  const again = await startApp(t, { settings: { ...settings, destinations: [] } });
  await send(again, 'while it was out');
  await again.close();
  const last = await startApp(t, { settings });
  await waitUntil('later alerts arrive', () => receiver.requests.length === 3);
  await send(last, 'last');
  await waitUntil('all alerts have arrived', () => receiver.requests.length === 4);
  const texts = receiver.requests.map(({ body }) => /"message":"([^"]+)"/.exec(body)?.[1]);
  assert.deepEqual(texts, ['before', 'after', 'while it was out', 'last']);
});
