import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { defaultUrl } from '../../src/cli/remote/server.ts';
import { settingsSchema, startApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { type Running, runCommand, runProgram, startProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

const send = (url: string, args: string[], input = '', variables: Record<string, string> = {}) =>
  runCommand(['send', ...args], { variables: { SIGNALBOX_URL: url, ...variables }, input });

const kept = 'the next send or run retries';

const list = async ({ request }: Pick<Running, 'request'>, path = '/api/alerts?count=100') =>
  (await request<{ data: Record<string, string>[] }>('GET', path)).json.data;

test('send stores an alert with its source, level and host, and prints nothing', async (t) => {
  const server = await startApp(t);
  assert.deepEqual(await send(server.url, ['--level', 'WARN', '--source', 'backup', 'disk', 'is full']), {
    code: 0,
    signal: null,
    stdout: '',
    stderr: '',
  });
  assert.equal((await send(server.url, ['--', '--odd'])).code, 0);
  const [first, second] = await list(server);
  assert.deepEqual(
    [first?.['source'], first?.['level'], first?.['message'], first?.['hostname']],
    ['backup', 'WARN', 'disk is full', hostname()],
  );
  assert.deepEqual(
    [second?.['source'], second?.['level'], second?.['message']],
    [userInfo().username, 'INFO', '--odd'],
  );
});

test('send passes on the details of an alert', async (t) => {
  const { url, requests } = await startReceiver(t, (response) => void response.end('{"received":true,"id":"a"}'));
  const about = ['--hostname', 'db-1', '--key', 'replication/db-1', '--status', 'resolved'];
  const links = [
    '--link',
    'https://wiki.example.org/db',
    '--label',
    'team=db',
    '--label',
    'query=a=b',
    '--label',
    'x=',
  ];
  assert.equal((await send(url, [...about, ...links, '--source', 'db', 'caught up'])).code, 0);
  assert.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
    source: 'db',
    level: 'INFO',
    message: 'caught up',
    hostname: 'db-1',
    key: 'replication/db-1',
    status: 'resolved',
    link: 'https://wiki.example.org/db',
    labels: { team: 'db', query: 'a=b', x: '' },
  });
});

test('send reads the message from standard input, with any bytes', async (t) => {
  const server = await startApp(t);
  assert.equal((await send(server.url, [], 'two\nlines\n\n')).code, 0);
  assert.equal(
    (await runProgram(['send', '--url', server.url, '-'], { input: Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x0a]) })).code,
    0,
  );
  assert.deepEqual(
    (await list(server)).map(({ message }) => message),
    ['two\nlines', 'a\ufffd\0\ufffd'],
  );
});

test('send with --verbose prints the id of the stored alert', async (t) => {
  const server = await startApp(t);
  const { stdout } = await send(server.url, ['--verbose', 'x']);
  assert.match(stdout, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/);
  assert.equal((await server.request('GET', `/api/alerts/${stdout.trim()}`)).status, 200);
});

test('send with an empty or too long message is a usage error, and nothing is sent', async (t) => {
  const { url, requests } = await startReceiver(t);
  for (const [args, input, message] of [
    [[], '', 'the message is empty'],
    [['-'], ' \n\n', 'the message is empty'],
    [[''], '', 'the message is empty'],
    [[], 'x'.repeat(1_048_577), 'the message is longer than 1 MiB'],
    [[], '"'.repeat(600_000), 'the message is too long: the alert must fit into 1 MiB of JSON'],
  ] as const) {
    const { code, stdout, stderr } = await send(url, [...args], input);
    assert.deepEqual([code, stdout, stderr], [2, '', `signalbox: ${message}\n`]);
  }
  assert.equal(requests.length, 0);
});

test('send stores a message of nearly 1 MiB', async (t) => {
  const server = await startApp(t);
  assert.equal((await send(server.url, [], 'x'.repeat(1_048_000))).code, 0);
  assert.equal((await list(server))[0]?.['message']?.length, 1_048_000);
});

test('send waits for a server that starts later', async (t) => {
  const port = await findFreePort();
  const sending = send(`http://127.0.0.1:${port}`, ['--verbose', 'hello']);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const server = await startApp(t, { port });
  const { code, stderr } = await sending;
  assert.equal(code, 0);
  assert.match(stderr, /^(signalbox: trying again: http:\/\/127\.0\.0\.1:\d+: the connection was refused\n)+$/);
  assert.equal((await list(server)).length, 1);
});

test('an alert whose response was lost is stored once, also if the server restarts meanwhile', async (t) => {
  const port = await findFreePort();
  const dataDir = createFolder(t);
  let upstream = await startApp(t, { settings: { dataDir } });
  // The proxy forwards the first request and loses the response.
  const proxy = await startReceiver(
    t,
    async (response, { path, headers, body }, index) => {
      const { status, text } = await upstream.request('POST', path, {
        headers: { 'idempotency-key': String(headers['idempotency-key']) },
        body: JSON.parse(body),
      });
      if (index > 0) return void response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      await upstream.close();
      upstream = await startApp(t, { settings: { dataDir } });
      response.destroy();
    },
    port,
  );
  assert.equal((await send(proxy.url, ['once'])).code, 0);
  assert.equal(proxy.requests.length, 2);
  assert.deepEqual(
    (await list(upstream)).map(({ message }) => message),
    ['once'],
  );
});

test('send retries after 429, 502, 503 and 504, and not before Retry-After', async (t) => {
  const statuses = [429, 502, 503, 504];
  const { url, requests } = await startReceiver(t, (response, _, index) => {
    const status = statuses[index];
    if (status === undefined) return void response.writeHead(200).end('{"received":true,"id":"a"}');
    response.writeHead(status, status === 503 ? { 'retry-after': '2' } : {}).end();
  });
  assert.equal((await send(url, ['x'])).code, 0);
  assert.equal(requests.length, 5);
  assert.equal(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.ok((requests[3]?.at ?? 0) - (requests[2]?.at ?? 0) >= 1990);
});

test('send ends with 75 if the server does not come back in time', async (t) => {
  const port = await findFreePort();
  const refused = `signalbox: the alert was not stored: http://127.0.0.1:${port}: the connection was refused; ${kept}\n`;
  for (const seconds of ['0', '1']) {
    const { code, stdout, stderr } = await send(`http://127.0.0.1:${port}`, ['--retry-for', seconds, 'x']);
    assert.deepEqual([code, stdout, stderr], [75, '', refused]);
  }
  const { url, requests } = await startReceiver(t, answer(503, { 'retry-after': '3600' }));
  const { code, stderr } = await send(url, ['x']);
  assert.deepEqual([code, stderr], [75, `signalbox: the alert was not stored: ${url} responded 503; ${kept}\n`]);
  assert.equal(requests.length, 1, 'an hour is longer than a minute');
});

test('send ends with 75 if the server accepts connections but never responds', async (t) => {
  const { url } = await startReceiver(t, () => undefined);
  const { code, stderr } = await send(url, ['--retry-for', '0', 'x']);
  assert.deepEqual(
    [code, stderr],
    [75, `signalbox: the alert was not stored: ${url}: no response within 5 s; ${kept}\n`],
  );
});

test('a wrong or missing key ends send with 1, and the key is not shown', async (t) => {
  const { key, entry } = createAccessKey('cron', ['alerts:write']);
  const server = await startApp(t, { settings: { access: 'login', keys: [entry] } });
  const wrong = `sbk_${'0'.repeat(43)}`;
  for (const message of ['x', 'x'.repeat(1_000_000)]) {
    const { code, stdout, stderr } = await send(server.url, ['-'], message, { SIGNALBOX_KEY: wrong });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^signalbox: the alert was not stored: http:\S+ responded 401: [^\n]+\n$/);
    assert.ok(!stderr.includes(wrong));
  }
  assert.match(
    (await send(server.url, ['x'])).stderr,
    /responded 401: .*; set SIGNALBOX_KEY to a key from signalbox create-key; the next send or run retries\n$/,
  );
  assert.equal((await send(server.url, ['x'], '', { SIGNALBOX_KEY: `${key}\n` })).code, 0);
  const broken = await send(server.url, ['x'], '', { SIGNALBOX_KEY: 'two\nsecret lines' });
  assert.deepEqual(
    [broken.code, broken.stderr],
    [2, 'signalbox: SIGNALBOX_KEY must be a key that signalbox create-key has printed\n'],
  );
});

test('a key that the server repeats is not shown, and its message stays on one line', async (t) => {
  const { url } = await startReceiver(t, (response, { headers }) => {
    response.writeHead(400).end(JSON.stringify({ error: `no\n\u001b[2J ${headers.authorization}` }));
  });
  const { code, stderr } = await send(url, ['x'], '', { SIGNALBOX_KEY: 'sbk_planted' });
  assert.deepEqual(
    [code, stderr],
    [1, `signalbox: the alert was not stored: ${url} responded 400: no\\u{a}\\u{1b}[2J Bearer ***\n`],
  );
});

test('the path of SIGNALBOX_URL is the mount that receives the alert', async (t) => {
  const server = await startApp(t, { settings: { mounts: { '/team': ['alerts'] } } });
  for (const url of [`${server.url}/team`, `${server.url}/team/`]) assert.equal((await send(url, ['x'])).code, 0);
  assert.equal((await list(server, '/team/api/alerts')).length, 2);
  const elsewhere = await send(server.url, ['x']);
  assert.deepEqual([elsewhere.code, /responded 404: /.test(elsewhere.stderr)], [1, true]);
  assert.equal((await runCommand(['send', '--url', `${server.url}/team`, 'x'])).code, 0);
});

test('send trusts the certificates that Node trusts, and no others', async (t) => {
  const cwd = createFolder(t);
  const { cert, key } = writeCertificate(cwd, 'box');
  const { url } = await startProgram(t, ['--profiles', 'alerts', '--tls-cert', cert, '--tls-key', key], { cwd });
  // Node reads the variable on startup.
  const variables = { SIGNALBOX_URL: url, NODE_EXTRA_CA_CERTS: cert };
  assert.equal((await runProgram(['send', 'x'], { variables })).code, 0);
  const { code, stderr } = await send(url, ['x']);
  assert.equal(code, 1);
  assert.match(stderr, /^signalbox: the alert was not stored: https:\S+: the certificate is not trusted: [^\n]+\n$/);
});

test('send fails if the server is not signalbox', async (t) => {
  const { url } = await startReceiver(t, (response) => void response.end('<html>'));
  const { code, stderr } = await send(url, ['x']);
  assert.deepEqual(
    [code, stderr],
    [1, `signalbox: the alert was not stored: ${url} is not a signalbox server; ${kept}\n`],
  );
  const https = url.replace('http:', 'https:');
  const secure = await send(https, ['x']);
  assert.deepEqual(
    [secure.code, secure.stderr],
    [1, `signalbox: the alert was not stored: ${https}: the server does not speak HTTPS; ${kept}\n`],
  );
  const other = createServer(
    (socket) =>
      void socket
        .on('error', () => undefined)
        .resume()
        .end('220 mail\r\n'),
  ).listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { stderr: printed } = await send(`http://127.0.0.1:${(other.address() as AddressInfo).port}`, ['x']);
  assert.match(printed, /: the server does not speak HTTP; the next send or run retries\n$/);
});

test('send uses the server with default settings if no server is named', () => {
  const { host, port } = settingsSchema.properties as Record<string, { default?: unknown }>;
  assert.equal(defaultUrl, `http://${host?.default}:${port?.default}`);
});

test('the server does not report the variables of send as unknown settings', async (t) => {
  const variables = { SIGNALBOX_URL: 'http://127.0.0.1:1', SIGNALBOX_KEY: 'sbk_planted' };
  const { stop, output } = await startProgram(t, ['--profiles', 'L'], { variables });
  await waitUntil('the server listens', () => output.stdout !== '');
  assert.doesNotMatch((await stop()).stderr, /SIGNALBOX_|planted/);
});
