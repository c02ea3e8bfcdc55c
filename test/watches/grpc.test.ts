import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { HealthImplementation, type ServingStatusMap } from 'grpc-health-check';
import { startApp, type TestApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { startFake } from './support/servers.ts';
import { createWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const look = async (app: TestApp, token: string, body: object) => {
  const [thing] = await tryWatch(app, token, { type: 'grpc', ...body });
  return [thing?.state, thing?.text?.replace(/ \d+ ms$/, ' N ms')] as const;
};

/** Starts a gRPC server. Without `states`, the server has no health service. */
const startGrpc = async (t: Scope, states?: ServingStatusMap, credentials = ServerCredentials.createInsecure()) => {
  const server = new Server();
  const health = states && new HealthImplementation(states);
  health?.addToServer(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  atEnd(t, () => server.forceShutdown());
  return { port, health, name: `127.0.0.1:${port}`, stop: () => server.forceShutdown() };
};

test('grpc: the health of a server and of its services is checked', async (t) => {
  const { port, health, name, stop } = await startGrpc(t, { '': 'SERVING', orders: 'NOT_SERVING' });
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = { host: '127.0.0.1', port };
  assert.deepEqual(await look(app, token, server), ['ok', `${name} is SERVING after N ms`]);
  const orders = { ...server, service: 'orders' };
  assert.deepEqual(await look(app, token, orders), ['pending', `${name} orders is NOT_SERVING`]);
  const [, unknown] = await look(app, token, { ...server, service: 'none' });
  assert.match(unknown ?? '', /^127\.0\.0\.1:\d+ none responded NOT_FOUND/);
  await createWatch(app, token, { name: 'orders', type: 'grpc', ...orders, every: 1 });
  const [alert] = await waitForAlerts(app, 1);
  assert.deepEqual([alert?.level, alert?.message], ['ERROR', `orders: ${name} orders is NOT_SERVING`]);
  health?.setStatus('orders', 'SERVING');
  await waitForState(app, token, 'orders', 'ok');
  stop();
  assert.deepEqual(await look(app, token, server), ['pending', `${name} fails: the connection was refused`]);
});

test('grpc: TLS is checked against the CA of the watch, with a client certificate', async (t) => {
  const [own, client] = [writeCertificate(createFolder(t), 'localhost'), writeCertificate(createFolder(t), 'client')];
  const pair = { private_key: readFileSync(own.key), cert_chain: readFileSync(own.cert) };
  const credentials = ServerCredentials.createSsl(readFileSync(client.cert), [pair], true);
  const { port } = await startGrpc(t, { '': 'SERVING' }, credentials);
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = { host: 'localhost', port, tls: true };
  const identity = { certificate: client.pem, key: readFileSync(client.key, 'utf8') };
  assert.match((await look(app, token, server))[1] ?? '', /fails: the certificate is self-signed$/);
  assert.equal((await look(app, token, { ...server, ca: own.pem }))[0], 'pending');
  const found = await look(app, token, { ...server, ca: own.pem, ...identity });
  assert.deepEqual(found, ['ok', `localhost:${port} is SERVING after N ms`]);
});

test('grpc: a server without a health service cannot be checked, and other servers are faults', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const at = (port: number) => look(app, token, { host: '127.0.0.1', port });
  const { port } = await startGrpc(t);
  const [state, text] = await at(port);
  assert.equal(state, 'cannot check');
  assert.match(text ?? '', /^the server reports no health \(responded UNIMPLEMENTED/);
  const web = await startReceiver(t);
  assert.match(
    (await at(Number(new URL(web.url).port)))[1] ?? '',
    /fails: (the response is not valid HTTP\/2|the connection was closed)$/,
  );
  const mute = await startFake(t, () => undefined);
  assert.match((await at(mute))[1] ?? '', /fails: no response was received in time$/);
  const closing = await startFake(t, (socket) => void socket.end());
  assert.match((await at(closing))[1] ?? '', /fails: the connection was closed$/);
});

test('grpc: a response that announces or sends too much is a fault', async (t) => {
  const server = new Server();
  const any = (value: Buffer): Buffer => value;
  let response = Buffer.alloc(0);
  const path = { path: '/grpc.health.v1.Health/Check', requestStream: false, responseStream: false } as const;
  const codec = { requestSerialize: any, requestDeserialize: any, responseSerialize: any, responseDeserialize: any };
  server.addService(
    { check: { ...path, ...codec } },
    {
      check: (_call: unknown, callback: (error: object | null, value?: Buffer) => void) =>
        response.length > 0
          ? callback(null, response)
          : callback({ code: status.UNAVAILABLE, details: 'no \u0007database' }),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  atEnd(t, () => server.forceShutdown());
  const app = await startApp(t);
  const token = await app.login('admin');
  const text = async () => (await look(app, token, { host: '127.0.0.1', port }))[1]?.replace(/^127\.0\.0\.1:\d+ /, '');
  assert.equal(await text(), 'responded UNAVAILABLE: no  database');
  for (const [bytes, words] of [
    [Buffer.from([0x08, 1]), 'is SERVING after N ms'],
    [Buffer.from([0x08, 9]), 'is in state 9'],
    [Buffer.from([0x12, 3, 1, 2, 3, 0x08, 2]), 'is NOT_SERVING'],
    [Buffer.from([0x12, 0xff, 0xff, 0xff, 0x7f]), 'is unreadable'],
    [Buffer.from([0x08, ...Array(20).fill(0xff)]), 'is unreadable'],
    [Buffer.alloc(1024 * 1024, 0x08), 'fails: the server sends too much data'],
  ] as const) {
    response = bytes;
    assert.equal(await text(), words);
  }
});
