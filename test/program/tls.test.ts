import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { startRefusal } from '../support/app.ts';
import { type CertificateFiles, writeCertificate } from '../support/certificate.ts';
import { sendRaw } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { type Running, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const start = async (t: TestContext): Promise<Running & { files: CertificateFiles; cwd: string }> => {
  const cwd = createFolder(t);
  const files = writeCertificate(cwd, 'first');
  const flags = ['--profiles', 'T', '--tls-cert', files.cert, '--tls-key', files.key];
  return { ...(await startProgram(t, flags, { cwd })), files, cwd };
};

/** Returns the status and headers of a GET over TLS. */
const get = async (url: string, ca: string, headers = {}) => {
  const sent = request(url, { ca, headers, agent: false }).end();
  const [answer] = await once(sent, 'response');
  answer.resume();
  return { status: answer.statusCode as number, headers: answer.headers as Record<string, string> };
};

const openSession = async (url: string, options: ConnectionOptions): Promise<TLSSocket> => {
  const socket = connectTls({ port: Number(new URL(url).port), host: '127.0.0.1', ...options });
  await once(socket, 'secureConnect');
  return socket;
};

test('a server with a certificate and key serves HTTPS, and its start message shows https addresses', async (t) => {
  const { url, files, stop } = await start(t);
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const { status, headers } = await get(`${url}/api/tasks`, files.pem);
  assert.deepEqual([status, headers['x-content-type-options']], [200, 'nosniff']);
  assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  assert.equal((await get(`${url}/docs/`, files.pem)).status, 200);
  assert.equal((await stop()).code, 0);
});

test('over HTTPS only pages with the https scheme have the same origin', async (t) => {
  const { url, files } = await start(t);
  const { host } = new URL(url);
  for (const [origin, status] of [
    [`https://${host}`, 200],
    [`http://${host}`, 403],
    ['https://localhost', 403],
  ] as const) {
    assert.equal((await get(`${url}/api/tasks`, files.pem, { origin })).status, status, origin);
  }
});

test('TLS 1.2 and 1.3 are accepted, older versions are rejected', async (t) => {
  const { url, files } = await start(t);
  const ca = files.pem;
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await openSession(url, { ca, minVersion: version, maxVersion: version });
    assert.equal(socket.getProtocol(), version);
    socket.destroy();
  }
  const old = { ca, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  await assert.rejects(openSession(url, old), /alert protocol version|ERR_SSL/);
  assert.equal((await get(`${url}/api/tasks`, files.pem)).status, 200);
});

test('a client that does not speak TLS, or stops during the handshake, is disconnected and delays neither others nor shutdown', async (t) => {
  const { url, files, stop } = await start(t);
  assert.doesNotMatch(await sendRaw(url, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'), /^HTTP/);
  connect(Number(new URL(url).port), '127.0.0.1').end('\x16\x03\x01\x02');
  assert.equal((await get(`${url}/api/tasks`, files.pem)).status, 200);
  // Neither an idle connection nor an idle TLS session delays shutdown.
  const silent = connect(Number(new URL(url).port), '127.0.0.1').resume();
  const session = (await openSession(url, { ca: files.pem })).resume();
  await get(`${url}/api/tasks`, files.pem);
  const closed = Promise.all([once(silent, 'close'), once(session, 'close')]);
  const { code } = await stop();
  await closed;
  assert.equal(code, 0);
});

test('on SIGHUP new connections use the renewed certificate, and a damaged one is ignored', async (t) => {
  const { url, files, cwd, child, output, stop } = await start(t);
  writeFileSync(files.key, 'damaged');
  child.kill('SIGHUP');
  await waitUntil('the log reports the certificate', () =>
    output.stderr.includes('the log files or the certificate could not be reopened'),
  );
  assert.match(
    output.stderr,
    /the log files or the certificate could not be reopened.*tlsKey|tlsKey.*the log files or the certificate could not be reopened/,
  );
  const second = writeCertificate(cwd, 'second');
  copyFileSync(second.cert, files.cert);
  copyFileSync(second.key, files.key);
  child.kill('SIGHUP');
  await waitUntil('the server has the second certificate', async () => {
    const socket = await openSession(url, { rejectUnauthorized: false });
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN === 'second';
  });
  assert.equal((await get(`${url}/api/tasks`, second.pem)).status, 200);
  assert.equal((await stop()).code, 0);
});

test('a certificate or key that is missing, not PEM, without its counterpart or of another pair prevents startup', async (t) => {
  const folder = createFolder(t);
  const first = writeCertificate(folder, 'first');
  const second = writeCertificate(folder, 'second');
  const bad = join(folder, 'bad.pem');
  writeFileSync(bad, 'hello');
  const refuse = (tlsCert: string | undefined, tlsKey?: string): Promise<string> =>
    startRefusal(t, { settings: { profiles: ['L'], tlsCert, tlsKey } });
  assert.match(await refuse(first.cert), /tlsKey is missing: HTTPS needs both tlsCert and tlsKey/);
  assert.match(await refuse(undefined, first.key), /tlsCert is missing/);
  assert.match(await refuse(first.cert, join(folder, 'none')), /cannot read tlsKey .*none: the file does not exist/);
  assert.match(
    await refuse(first.cert, second.key),
    /does not match tlsCert .*; use the key that belongs to this certificate/,
  );
  for (const [cert, key] of [
    [bad, first.key],
    [first.cert, bad],
  ] as const) {
    assert.match(await refuse(cert, key), /must be a PEM certificate and .* PEM key/);
  }
});

test('a client that half-closes a TLS connection after its request gets the response', async (t) => {
  const { url, files } = await start(t);
  const socket = await openSession(url, { ca: files.pem, allowHalfOpen: true } as ConnectionOptions);
  t.after(() => socket.destroy());
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.end('GET /api/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'close');
  assert.match(Buffer.concat(pieces).toString(), /^HTTP\/1\.1 200 OK\r\n/);
});
