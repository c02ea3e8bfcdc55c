import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { startApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { createPair } from './support/pairs.ts';
import { createWatch, readWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const day = 86_400;

/** Starts an HTTPS server whose certificate is valid for a number of seconds and can be renewed. */
const startTls = async (t: Scope, seconds: number) => {
  const server = createHttpsServer(createPair(t, seconds), (_request, response) => {
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, renew: (next: number) => server.setSecureContext(createPair(t, next)) };
};

test('a server that stops, or sends another text, raises an alert, and its return resolves the alert', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = await startReceiver(t, (response) => void response.end('all is ok'));
  await createWatch(app, token, {
    name: 'shop',
    type: 'http',
    url: `${server.url}/health?key=secret`,
    contains: 'ok',
    every: 1,
  });
  await waitForState(app, token, 'shop', 'ok');
  const { text } = (await readWatch(app, token, 'shop')).things[0] ?? {};
  assert.match(text ?? '', new RegExp(`^${server.url}/health responded 200 after \\d+ ms$`));
  server.behave((response) => void response.end('all is lost'));
  const [bad] = await waitForAlerts(app, 1);
  assert.deepEqual([bad?.level, bad?.source], ['ERROR', 'watch/shop']);
  assert.equal(bad?.message, `shop: ${server.url}/health responded 200 without "ok"`);
  assert.equal(bad?.hostname, '', 'no machine is at fault');
  server.behave((response) => void response.writeHead(503).end());
  await waitForState(app, token, 'shop', 'firing');
  server.behave((response) => void response.end('ok'));
  const [, ended] = await waitForAlerts(app, 2);
  assert.deepEqual([ended?.resolves, ended?.hostname], [bad?.id, '']);
});

test('checks of servers that hang, respond endlessly or redirect for ever end, and delay no other checks', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const hanging = await startReceiver(t, () => undefined);
  const good = await startReceiver(t, (response) => void response.end('ok'));
  const hangs = Array.from({ length: 30 }, (_, index) => {
    const body = { name: `hang-${index}`, type: 'http', url: `${hanging.url}/${index}`, every: 1 };
    return createWatch(app, token, body);
  });
  await Promise.all(hangs);
  // A server that sends single bytes, and a server that accepts connections without a response.
  const slow = await startReceiver(t, (response) => {
    const timer = setInterval(() => response.write('.'), 100);
    response.on('close', () => clearInterval(timer));
  });
  const mute = createServer((socket) => socket.on('error', () => undefined));
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  atEnd(t, () => mute.close());
  const { port } = mute.address() as AddressInfo;
  await createWatch(app, token, { name: 'slow', type: 'http', url: slow.url, every: 1 });
  await createWatch(app, token, { name: 'mute', type: 'certificate', host: '127.0.0.1', port, every: 1 });
  await createWatch(app, token, { name: 'good', type: 'http', url: good.url, every: 1 });
  const endless = await startReceiver(t, (response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', write);
    write();
  });
  const [one] = await tryWatch(app, token, { type: 'http', url: endless.url });
  assert.equal(one?.state, 'ok');
  const circle = await startReceiver(t, (response) => void response.writeHead(302, { location: '/again' }).end());
  const [two] = await tryWatch(app, token, { type: 'http', url: circle.url });
  assert.deepEqual([two?.state, two?.text], ['pending', `${circle.url} fails: there are more than 3 redirects`]);
  assert.equal(circle.requests.length, 4);
  await waitForState(app, token, 'hang-0', 'firing');
  const { text } = (await readWatch(app, token, 'hang-0')).things[0] ?? {};
  assert.match(text ?? '', /fails: no response was received in time$/);
  await waitForState(app, token, 'slow', 'firing');
  await waitForState(app, token, 'mute', 'cannot check');
  const closingAt = performance.now();
  await app.close();
  assert.ok(performance.now() - closingAt < 5000, 'checks that hang hold up no stop');
  assert.ok(good.requests.length > 3, `the good one was checked ${good.requests.length} times`);
});

test('neither addresses, names nor redirects lead to forbidden targets', async (t) => {
  const app = await startApp(t, { settings: { watchTargets: ['127.0.0.1', 'localhost'] } });
  const token = await app.login('admin');
  const server = await startReceiver(t, (response) => void response.end('ok'));
  const { port } = new URL(server.url);
  const look = async (url: string) => {
    const [thing] = await tryWatch(app, token, { type: 'http', url });
    return [thing?.state, thing?.text];
  };
  assert.equal((await look(server.url))[0], 'ok');
  assert.equal((await look(`http://localhost:${port}`))[0], 'ok');
  const refusal = ['cannot check', '127.0.0.2 is not allowed by watchTargets'];
  assert.deepEqual(await look(`http://127.0.0.2:${port}`), refusal);
  server.behave((response) => void response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end());
  assert.deepEqual(await look(server.url), refusal);
  server.behave((response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end());
  assert.equal((await look(server.url))[0], 'cannot check');
  server.behave((response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end());
  assert.match(String((await look(server.url))[1]), /an http URL$/);
  const usual = await startApp(t);
  const [metadata] = await tryWatch(usual, await usual.login('admin'), {
    type: 'tcp',
    host: '169.254.169.254',
    port: 80,
  });
  assert.equal(metadata?.text, '169.254.169.254 is not allowed by watchTargets');
});

test('a port that accepts connections is ok, and a port that refuses connections fires', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const tcp = { type: 'tcp', host: '127.0.0.1', port, limit: 5000 };
  assert.match(
    (await tryWatch(app, token, tcp))[0]?.text ?? '',
    /^127\.0\.0\.1:\d+ accepted a connection after \d+ ms$/,
  );
  server.close();
  await once(server, 'close');
  const [refused] = await tryWatch(app, token, tcp);
  assert.match(refused?.text ?? '', /does not accept connections: the connection was refused$/);
});

test('a certificate that expires soon raises an alert, on a server and in a file', async (t) => {
  const folder = createFolder(t);
  const { cert } = writeCertificate(folder, 'file');
  const watches = [{ name: 'pem', type: 'certificate', path: cert, every: 1 }];
  const broken = { name: 'broken', type: 'certificate', path: join(folder, 'none.pem'), every: 1 };
  const endless = { name: 'endless', type: 'certificate', path: '/dev/zero', for: 3600 };
  // File with a reported size of 0 that contains the address space.
  const lying = { name: 'lying', type: 'certificate', path: '/proc/self/pagemap', for: 3600 };
  const ca = { name: 'ca', type: 'certificate', host: 'localhost', caFile: '/proc/self/pagemap', for: 3600 };
  const app = await startApp(t, { settings: { watches: [...watches, broken, endless, lying, ca] } });
  const token = await app.login('admin');
  const { port } = await startTls(t, 5.5 * day);
  await createWatch(app, token, { name: 'tls', type: 'certificate', host: 'localhost', port, critical: 3, every: 1 });
  const alerts = await waitForAlerts(app, 2);
  assert.deepEqual(alerts.map(({ source }) => source).sort(), ['watch/broken', 'watch/tls']);
  const tls = alerts.find(({ source }) => source === 'watch/tls');
  const words = `tls: the certificate of localhost:${port} is valid for 5 days, until \\d{4}-\\d\\d-\\d\\d, limit 14 days`;
  assert.match(tls?.message ?? '', new RegExp(`^${words}$`));
  assert.match(
    alerts.find((one) => one !== tls)?.message ?? '',
    /^Watch broken cannot run its check: .* cannot be read \(ENOENT\)$/,
  );
  await waitForState(app, token, 'pem', 'ok');
  await waitForState(app, token, 'endless', 'cannot check');
  const { things } = await readWatch(app, token, 'endless');
  assert.equal(things[0]?.text, '/dev/zero cannot be read (not a regular file)');
  await waitForState(app, token, 'lying', 'cannot check');
  const { things: lies } = await readWatch(app, token, 'lying');
  assert.equal(lies[0]?.text, '/proc/self/pagemap cannot be read (the file is larger than 1 MiB)');
  await waitForState(app, token, 'ca', 'cannot check');
  const { things: authorities } = await readWatch(app, token, 'ca');
  assert.equal(authorities[0]?.text, '/proc/self/pagemap cannot be read (the file is larger than 1 MiB)');
  const [untrusted] = await tryWatch(app, token, { type: 'http', url: `https://localhost:${port}/` });
  assert.match(untrusted?.text ?? '', /fails: the certificate is self-signed$/);
});

test('a certificate that expires raises an alert, and its renewal resolves the alert', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { port, renew } = await startTls(t, 3);
  await createWatch(app, token, { name: 'tls', type: 'certificate', host: 'localhost', port, limit: 0, every: 1 });
  await waitForState(app, token, 'tls', 'ok');
  const [raised] = await waitForAlerts(app, 1);
  assert.match(raised?.message ?? '', /^tls: the certificate of localhost:\d+ expired on [\d-]+, limit 0 days$/);
  renew(30 * day);
  const [, ended] = await waitForAlerts(app, 2);
  assert.equal(ended?.resolves, raised?.id);
});

test('a certificate of the year 9999 is valid for many days', async (t) => {
  const { cert } = writeCertificate(createFolder(t), 'localhost', '99991231235959Z');
  const watches = [{ name: 'late', type: 'certificate', path: cert, every: 1 }];
  const app = await startApp(t, { settings: { watches } });
  const token = await app.login('admin');
  await waitForState(app, token, 'late', 'ok');
  const { text } = (await readWatch(app, token, 'late')).things[0] ?? {};
  assert.match(text ?? '', / is valid for 29\d{5} days, until (9999-12-31|10000-01-01)$/);
});

test('`contains` searches the text as a browser shows it: unpacked, and in the declared charset', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = await startReceiver(t, (response) => void response.end());
  const latin = Buffer.from('Straße geöffnet', 'latin1');
  const page = Buffer.from('<html><head><meta charset="windows-1252"></head>Straße geöffnet</html>', 'latin1');
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Straße geöffnet', 'utf16le')]);
  const plain = Buffer.from('Straße geöffnet');
  const large = Buffer.concat([plain, Buffer.alloc(20 * 1024 * 1024)]);
  const cases: [Record<string, string>, Buffer][] = [
    [{}, plain],
    [{ 'content-encoding': 'gzip' }, gzipSync(plain)],
    [{ 'content-encoding': 'GZIP' }, gzipSync(plain)],
    [{ 'content-encoding': 'deflate' }, deflateSync(plain)],
    [{ 'content-encoding': 'deflate' }, deflateRawSync(plain)],
    [{ 'content-encoding': 'br' }, brotliCompressSync(plain)],
    [{ 'content-encoding': 'deflate, gzip' }, gzipSync(deflateSync(plain))],
    [{ 'content-encoding': 'gzip' }, gzipSync(large)],
    [{ 'content-encoding': 'identity' }, plain],
    [{ 'content-type': 'text/plain; charset=iso-8859-1' }, latin],
    [{ 'content-type': 'text/html; charset="UTF-8"' }, plain],
    [{ 'content-type': 'text/html; charset=nonsense' }, plain],
    [{ 'content-type': 'text/html' }, page],
    [{ 'content-type': 'text/html; charset=iso-8859-1' }, wide],
    [{ 'content-encoding': 'gzip', 'content-type': 'text/html' }, gzipSync(page)],
  ];
  const look = async (contains: string) => (await tryWatch(app, token, { type: 'http', url: server.url, contains }))[0];
  for (const [headers, body] of cases) {
    server.behave((response) => void response.writeHead(200, headers).end(body));
    assert.equal((await look('Straße geöffnet'))?.state, 'ok', JSON.stringify(headers));
    assert.equal((await look('Straße geschlossen'))?.state, 'pending', JSON.stringify(headers));
  }
  server.behave((response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('none'));
  assert.match((await look('a'))?.text ?? '', /fails: the response cannot be decompressed with gzip: /);
  server.behave((response) => void response.writeHead(200, { 'content-encoding': 'compress' }).end('none'));
  assert.match(
    (await look('a'))?.text ?? '',
    /fails: the response is compressed with compress, which is not supported$/,
  );
});

test('an IPv6 address is checked with and without brackets', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = createHttpsServer(createPair(t, day), (_request, response) => void response.end('ok'));
  try {
    server.listen(0, '::1');
    await once(server, 'listening');
  } catch {
    return t.skip('this machine has no IPv6');
  }
  atEnd(t, () => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['::1', '[::1]']) {
    const [tcp] = await tryWatch(app, token, { type: 'tcp', host, port });
    assert.match(tcp?.text ?? '', /^\[::1\]:\d+ accepted a connection after/);
    const [certificate] = await tryWatch(app, token, { type: 'certificate', host, port });
    assert.match(certificate?.text ?? '', /^the certificate of \[::1\]:\d+ is valid for/);
  }
});

test('failures of TLS are described in words', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const pair = createPair(t, day);
  const look = async (options: TlsOptions | undefined): Promise<string> => {
    const onSocket = (socket: { on(event: 'error', listener: () => void): unknown }): void =>
      void socket.on('error', () => undefined);
    const server = options ? createTlsServer({ ...pair, ...options }, onSocket) : createServer(onSocket);
    if (!options) server.on('connection', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [found] = await tryWatch(app, token, {
      type: 'http',
      url: `https://localhost:${port}/`,
      ca: String(pair.cert),
    });
    server.close();
    return found?.text.replace(/.*fails: /, '') ?? '';
  };
  const weak = 'DEFAULT@SECLEVEL=0';
  assert.equal(await look(undefined), 'the response is not TLS');
  assert.equal(
    await look({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: weak }),
    'the server supports no secure version of TLS',
  );
  assert.equal(
    await look({ maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA256' }),
    'the server supports no cipher that signalbox supports',
  );
  const unnamed: TlsOptions = { SNICallback: (_name, done) => done(new Error('unknown')) };
  assert.match(
    await look(unnamed),
    /^(?:the connection was closed|the TLS handshake failed|the server has no certificate)/,
  );
  assert.equal(
    await look({ requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.3', minVersion: 'TLSv1.3' }),
    'the server requires a client certificate',
  );
});
