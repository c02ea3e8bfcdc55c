import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requires } from '../lab/faults/support/requirements.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { startReceiver } from '../support/receiver.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { createWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const look = async (app: TestApp, token: string, body: object) => {
  const [thing] = await tryWatch(app, token, body);
  return [thing?.state, thing?.text] as const;
};

const refusal = async ({ request }: TestApp, token: string, body: object): Promise<string> => {
  const { status, json } = await request<{ error: string }>('POST', '/api/watches/test', {
    token,
    body: { name: 'trial', ...body },
  });
  assert.equal(status, 400, JSON.stringify(json));
  return json.error;
};

test('a ping of a host that answers is ok, with the round-trip time', requires({ programs: ['ping'] }), async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const [state, text] = await look(app, token, { type: 'ping', host: '127.0.0.1', limit: 5000 });
  assert.equal(state, 'ok');
  assert.match(text ?? '', /^127\.0\.0\.1 responded to ping after \d+ ms$/);
  assert.equal((await look(app, token, { type: 'ping', host: 'localhost' }))[0], 'ok');
  assert.deepEqual(await look(app, token, { type: 'ping', host: '169.254.169.254' }), [
    'cannot check',
    '169.254.169.254 is not allowed by watchTargets',
  ]);
  const unknown = await look(app, token, { type: 'ping', host: 'no-such.invalid' });
  assert.equal(unknown[0], 'cannot check');
  assert.match(await refusal(app, token, { type: 'ping', host: '-f 127.0.0.1' }), /host must be a name or an address/);
});

test('a watch with places is of a type whose result depends on the place', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = { host: '127.0.0.1', port: 1, from: ['hub'] };
  for (const type of ['tcp', 'certificate', 'grpc', 'redis']) {
    const body = { name: type, type, ...server, ...(type === 'certificate' && { limit: 14 }) };
    const { status, text } = await app.request('POST', '/api/watches', { token, body });
    assert.equal(status, 201, text);
  }
  const domain = { type: 'domain', domain: 'shop.example', from: ['hub'] };
  assert.match(await refusal(app, token, domain), /type domain has no setting from/);
});

/** Starts a real name server with a zone. Resolves to its address. */
const startNameServer = async (t: Scope): Promise<string> => {
  const folder = createFolder(t);
  const port = await findFreePort();
  const zone = [
    '@ 60 SOA ns.shop.test. admin.shop.test. 7 60 60 60 60',
    '@ 60 NS ns.shop.test.',
    'ns 60 A 192.0.2.1',
    'www 60 A 192.0.2.7',
    'www 60 A 192.0.2.8',
    '@ 60 MX 10 mail.shop.test.',
    '@ 60 TXT "v=spf1 -all"',
    '@ 60 CAA 0 issue "ca.test"',
    '_https._tcp 60 SRV 1 2 443 www.shop.test.',
  ];
  writeFileSync(join(folder, 'shop.test.zone'), `$ORIGIN shop.test.\n${zone.join('\n')}\n`);
  const config = [
    `server:\n  rundir: ${folder}\n  listen: 127.0.0.1@${port}`,
    `database:\n  storage: ${folder}`,
    `zone:\n  - domain: shop.test\n    storage: ${folder}\n    file: shop.test.zone`,
    'log:\n  - target: stdout\n    any: info',
  ];
  writeFileSync(join(folder, 'knot.conf'), `${config.join('\n')}\n`);
  const child = spawn('knotd', ['-c', join(folder, 'knot.conf')], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for await (const chunk of child.stdout.setEncoding('utf8')) if (/server started/.test(chunk)) break;
  child.stdout.resume();
  return `127.0.0.1:${port}`;
};

test('records of a name server are ok, unless an answer is missing', requires({ programs: ['knotd'] }), async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = await startNameServer(t);
  const dns = (host: string, settings: object = {}) => look(app, token, { type: 'dns', host, server, ...settings });
  const [state, text] = await dns('www.shop.test');
  assert.deepEqual([state, text?.split(' is ')[0]], ['ok', 'www.shop.test A']);
  for (const [host, record, expected] of [
    ['www.shop.test', 'A', '192.0.2.8'],
    ['shop.test', 'MX', '10 MAIL.shop.test.'],
    ['shop.test', 'TXT', 'v=spf1 -all'],
    ['shop.test', 'CAA', '0 issue ca.test'],
    ['shop.test', 'SOA', 'ns.shop.test admin.shop.test 7'],
    ['_https._tcp.shop.test', 'SRV', '1 2 443 www.shop.test'],
  ] as const) {
    const found = await dns(host, { record, expected });
    assert.equal(found[0], 'ok', found[1]);
  }
  assert.deepEqual(await dns('shop.test', { record: 'NS', expected: 'ns2.shop.test' }), [
    'pending',
    'shop.test NS is ns.shop.test, not ns2.shop.test',
  ]);
  assert.deepEqual(await dns('gone.shop.test'), ['pending', 'gone.shop.test A: the name does not exist']);
  assert.deepEqual(await dns('www.shop.test', { record: 'AAAA' }), [
    'pending',
    'www.shop.test AAAA: the name has no record of this type',
  ]);
  assert.deepEqual(await dns('other.test'), ['pending', 'other.test A: the name server refuses the request']);
  const closed = `127.0.0.1:${await findFreePort()}`;
  assert.deepEqual(await dns('www.shop.test', { server: closed }), [
    'pending',
    'www.shop.test A: no name server responds',
  ]);
  const forbidden = await dns('www.shop.test', { server: '169.254.169.254' });
  assert.equal(forbidden[0], 'cannot check');
  assert.match(
    await refusal(app, token, { type: 'dns', host: 'a.test', server: 'ns.test' }),
    /server must be the address/,
  );
});

test('a check sends the method, headers and body of its watch', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = await startReceiver(t, (response) => void response.end('ok'));
  const watch = { type: 'http', url: server.url, method: 'POST', headers: { 'X-Check': 'yes' }, body: '{"a":1}' };
  assert.equal((await look(app, token, watch))[0], 'ok');
  const [request] = server.requests;
  assert.deepEqual([request?.method, request?.headers['x-check'], request?.body], ['POST', 'yes', '{"a":1}']);
  for (const [settings, error] of [
    [{ body: 'x' }, /body needs method POST or PUT/],
    [{ headers: { Host: 'other' } }, /headers must not contain Host/],
    [{ headers: { 'X-A': 'a\r\nX-B: b' } }, /headers: the value of X-A has forbidden characters/],
    [{ headers: { 'X A': 'a' } }, /headers: "X A" is not the name of a header/],
    [{ json: [{ pointer: '/a', is: '<', value: 'b' }] }, /json: < needs a number/],
    [{ json: [{ pointer: 'a', is: '=', value: 1 }] }, /json: pointer must be empty or begin with \//],
  ] as const) {
    assert.match(await refusal(app, token, { type: 'http', url: server.url, ...settings }), error);
  }
});

test('headers of a check are not sent to another origin after a redirect', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const other = await startReceiver(t, (response) => void response.end('ok'));
  const server = await startReceiver(t, (response) => void response.writeHead(307, { location: other.url }).end());
  const watch = { type: 'http', url: server.url, method: 'POST', headers: { authorization: 'secret' }, body: 'x' };
  assert.equal((await look(app, token, watch))[0], 'ok');
  const [request] = other.requests;
  assert.deepEqual([request?.headers['authorization'], request?.body], [undefined, '']);
  assert.deepEqual(
    await look(app, token, { type: 'http', url: server.url, redirects: 0, status: '307' }).then(([state]) => state),
    'ok',
  );
});

test('conditions for values of a JSON body decide about a fault', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const body = { status: 'up', queue: { length: 3 }, 'a/b~c': [null, true] };
  const server = await startReceiver(t, (response) => void response.end(JSON.stringify(body)));
  const check = (...json: object[]) => look(app, token, { type: 'http', url: server.url, json });
  const good = [
    { pointer: '/status', is: '=', value: 'up' },
    { pointer: '/queue/length', is: '<=', value: 3 },
    { pointer: '/queue/length', is: '>', value: 2.5 },
    { pointer: '/a~1b~0c/0', is: '=', value: null },
    { pointer: '/a~1b~0c/1', is: '!=', value: false },
    { pointer: '/missing', is: '!=', value: 1 },
  ];
  assert.equal((await check(...good))[0], 'ok');
  assert.deepEqual(await check({ pointer: '/queue/length', is: '<', value: 3 }), [
    'pending',
    `${server.url} responded 200, but /queue/length is 3 (expected: < 3)`,
  ]);
  assert.match(
    (await check({ pointer: '/missing', is: '=', value: 'x' }))[1] ?? '',
    /\/missing is missing \(expected: = "x"\)/,
  );
  assert.match((await check({ pointer: '/status', is: '>', value: 1 }))[1] ?? '', /\/status is "up" \(expected: > 1\)/);
  server.behave((response) => void response.end('{'));
  assert.match((await check({ pointer: '', is: '!=', value: 1 }))[1] ?? '', /but the body is not JSON$/);
  assert.match(
    (await look(app, token, { type: 'http', url: server.url, lacks: '{' }))[1] ?? '',
    /responded 200 with "\{"$/,
  );
});

test('a fault that a retry does not confirm raises no alert', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const flaky = await startReceiver(t, (response) => {
    response.writeHead(flaky.requests.length % 2 === 1 ? 503 : 200).end();
  });
  await createWatch(app, token, { name: 'flaky', type: 'http', url: flaky.url, every: 1, retries: 1 });
  const down = await startReceiver(t, (response) => void response.writeHead(503).end());
  await createWatch(app, token, { name: 'down', type: 'http', url: down.url, every: 1, retries: 1 });
  await waitForState(app, token, 'flaky', 'ok');
  await waitForState(app, token, 'down', 'firing');
  const [alert] = await waitForAlerts(app, 1);
  assert.equal(alert?.source, 'watch/down');
});
