import assert from 'node:assert/strict';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { requires } from '../lab/faults/support/requirements.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { ordinary } from '../support/postgres/data-folder.ts';
import { owner } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';
import type { Scope } from '../support/scope.ts';
import { startFake, startMariadb, startRedis } from './support/servers.ts';
import { createWatch, readWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const look = async (app: TestApp, token: string, body: object) => {
  const [thing] = await tryWatch(app, token, body);
  return [thing?.state, thing?.text?.replace(/ \d+ ms$/, ' N ms')] as const;
};

test(
  'redis: a login and PING work with and without TLS, and refusals are shown',
  requires({ programs: ['redis-server'] }),
  async (t) => {
    const { port, tlsPort, ca, stop } = await startRedis(t);
    const app = await startApp(t);
    const token = await app.login('admin');
    const plain = { type: 'redis', host: '127.0.0.1', port };
    const name = `127.0.0.1:${port}`;
    const good = ['ok', `${name} responded after N ms`];
    assert.deepEqual(await look(app, token, { ...plain, password: 'secret' }), good);
    assert.deepEqual(await look(app, token, { ...plain, user: 'ben', password: 'secret-of-ben' }), good);
    assert.deepEqual(await look(app, token, plain), ['pending', `${name} responded: NOAUTH Authentication required.`]);
    assert.match((await look(app, token, { ...plain, password: 'wrong' }))[1] ?? '', /responded: WRONGPASS invalid/);
    const tls = { type: 'redis', host: 'localhost', port: tlsPort, password: 'secret', tls: true };
    assert.match((await look(app, token, tls))[1] ?? '', /fails: the certificate is self-signed$/);
    assert.deepEqual(await look(app, token, { ...tls, ca }), ['ok', `localhost:${tlsPort} responded after N ms`]);
    // Redis takes the TLS handshake for the start of a command.
    assert.equal((await tryWatch(app, token, { ...tls, port, ca }))[0]?.seen?.failed, 'tls');
    await createWatch(app, token, { ...plain, name: 'cache', password: 'secret', every: 1 });
    await waitForState(app, token, 'cache', 'ok');
    await stop();
    const [alert] = await waitForAlerts(app, 1);
    assert.deepEqual([alert?.level, alert?.message], ['ERROR', `cache: ${name} fails: the connection was refused`]);
  },
);

test(
  'redis: a server without AUTH does not bring the password into the result',
  requires({ programs: ['redis-server'] }),
  async (t) => {
    const { port } = await startRedis(t, ['rename-command AUTH ""']);
    const app = await startApp(t);
    const token = await app.login('admin');
    const password = 'correct horse battery staple'.repeat(10);
    const [state, text] = await look(app, token, { type: 'redis', host: '127.0.0.1', port, password });
    assert.deepEqual([state, text?.includes('correct')], ['pending', false], text);
    assert.match(text ?? '', /responded: ERR unknown command 'AUTH'$/);
  },
);

test(
  'mysql: a login and a query work with and without TLS, and refusals are shown',
  requires({ programs: ['mariadbd'] }),
  async (t) => {
    const { port, ca, stop } = await startMariadb(t);
    const app = await startApp(t);
    const token = await app.login('admin');
    const login = { type: 'mysql', host: '127.0.0.1', port, user: 'ben', password: 'secret-of-ben' };
    const name = `127.0.0.1:${port}`;
    const good = ['ok', `${name} responded after N ms`];
    assert.deepEqual(await look(app, token, login), good);
    assert.deepEqual(await look(app, token, { ...login, database: 'shop' }), good);
    assert.match(
      (await look(app, token, { ...login, database: 'none' }))[1] ?? '',
      /responded: Access denied .* 'none'$/,
    );
    const wrong = await look(app, token, { ...login, password: 'wrong' });
    assert.deepEqual(wrong, [
      'pending',
      `${name} responded: Access denied for user 'ben'@'127.0.0.1' (using password: YES)`,
    ]);
    const tls = { ...login, host: 'localhost', tls: true };
    assert.match((await look(app, token, tls))[1] ?? '', /fails: self-signed certificate$/);
    assert.deepEqual(await look(app, token, { ...tls, ca }), ['ok', `localhost:${port} responded after N ms`]);
    await stop();
    assert.deepEqual(await look(app, token, login), ['pending', `${name} fails: the connection was refused`]);
  },
);

/** Starts PostgreSQL with TLS. */
const startTlsPostgres = async (t: Scope) => {
  const { cert, key, pem } = writeCertificate(createFolder(t), 'localhost');
  const { uid, gid } = owner;
  chmodSync(key, 0o600);
  if (uid !== undefined && gid !== undefined)
    for (const path of [join(key, '..'), cert, key]) chownSync(path, uid, gid);
  const settings = { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key };
  return { ca: pem, ...(await startPostgres(t, { settings })) };
};

test('postgres: a login and a query work with and without TLS, and refusals are shown', async (t) => {
  const { port, ca, stop } = await startTlsPostgres(t);
  const passwordFile = join(createFolder(t), 'password');
  writeFileSync(passwordFile, `${ordinary.password}\n`, { mode: 0o600 });
  const login = { type: 'postgres', host: '127.0.0.1', port, ...ordinary };
  const { password: _, ...anonymous } = login;
  const app = await startApp(t, { settings: { watches: [{ ...anonymous, name: 'file', passwordFile, every: 1 }] } });
  const token = await app.login('admin');
  const name = `127.0.0.1:${port}`;
  assert.deepEqual(await look(app, token, login), ['ok', `${name} responded after N ms`]);
  await waitForState(app, token, 'file', 'ok');
  const wrong = await look(app, token, { ...login, password: 'wrong' });
  assert.deepEqual(wrong, ['pending', `${name} responded: password authentication failed for user "signalbox"`]);
  assert.match((await look(app, token, anonymous))[1] ?? '', /responded: a password is required$/);
  assert.match(
    (await look(app, token, { ...login, database: 'none' }))[1] ?? '',
    /responded: database "none" does not exist$/,
  );
  const tls = { ...login, host: 'localhost', tls: true };
  assert.match((await look(app, token, tls))[1] ?? '', /fails: the certificate is self-signed$/);
  assert.deepEqual(await look(app, token, { ...tls, ca }), ['ok', `localhost:${port} responded after N ms`]);
  // The password belongs to the watch, and to the server that the watch names.
  const created = await createWatch(app, token, { ...login, name: 'shop', every: 1 });
  assert.deepEqual([created.hidden, 'password' in created.settings], [['password'], false]);
  const { settings } = await readWatch(app, token, 'shop');
  assert.equal((await tryWatch(app, token, settings))[0]?.state, 'ok');
  const change = (body: object) =>
    app.request<{ error: string; hidden: string[] }>('PUT', '/api/watches/shop', { token, body });
  assert.equal((await change({ ...settings, limit: 5000 })).status, 200);
  for (const [name, value] of [
    ['host', 'localhost'],
    ['port', port + 1],
    ['tls', true],
    ['ca', ca],
    ['hosts', ['web-*']],
    ['from', ['hub', 'web-1']],
  ] as const) {
    const { status, json } = await change({ ...settings, [name]: value });
    const refusal = `${name} decides who receives the stored password: to change ${name}, enter the password again`;
    assert.deepEqual([status, json.error], [400, refusal]);
  }
  assert.deepEqual((await change({ ...settings, password: '' })).json.hidden, []);
  await stop();
  assert.deepEqual(await look(app, token, login), ['pending', `${name} fails: the connection was refused`]);
});

test('servers that send garbage, too much or nothing are faults of logins, within the time limit', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const flood = (start: Buffer) => (socket: Socket) => {
    const chunk = Buffer.alloc(65_536, 'a');
    socket.write(start);
    const write = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  };
  const servers = {
    mute: await startFake(t, () => undefined),
    garbage: await startFake(t, (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(100))),
    closing: await startFake(t, (socket) => void socket.end()),
    // Headers that announce 1 GB: a message of PostgreSQL, and the start of a packet of MySQL.
    flood: await startFake(t, flood(Buffer.from('R\x3f\xff\xff\xff', 'latin1'))),
    packets: await startFake(t, flood(Buffer.from('\xff\xff\xff\x00\x0a', 'latin1'))),
  };
  const before = process.memoryUsage().rss;
  const texts: Record<string, string> = {};
  await Promise.all(
    Object.entries(servers).flatMap(([kind, port]) =>
      (['redis', 'postgres', 'mysql'] as const).map(async (type) => {
        const login = { type, host: '127.0.0.1', port, password: 'secret', ...(type !== 'redis' && { user: 'ben' }) };
        const [state, text] = await look(app, token, login);
        assert.equal(state, 'pending', `${type} ${kind}: ${text}`);
        texts[`${type} ${kind}`] = text?.replace(/^.* fails: /, '') ?? '';
      }),
    ),
  );
  t.diagnostic(JSON.stringify(texts, undefined, 1));
  for (const type of ['redis', 'postgres', 'mysql']) {
    assert.equal(texts[`${type} mute`], 'no response was received in time');
    assert.equal(texts[`${type} closing`], 'the connection was closed');
  }
  assert.equal(texts['redis flood'], 'the response does not come from Redis');
  assert.equal(texts['postgres flood'], 'the server sends too much data');
  assert.equal(texts['mysql packets'], 'the server sends too much data');
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 300 * 1024 ** 2, `${grown} bytes`);
});
