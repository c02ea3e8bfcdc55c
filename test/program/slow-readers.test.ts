import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { startApp } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';

/** Number of tasks: more than socket buffers hold for a client that does not read. */
const count = 20_000;
const tasks = Array.from({ length: count }, () => ({ Title: 'x', Description: 'y'.repeat(1000) }));

/** Timeout of a test, in milliseconds. Shorter than the timeout of Node itself. */
const timeout = 100_000;

const start = async (t: TestContext, settings: Record<string, unknown> = {}) => {
  const limits = { requestTimeout: 1, headersTimeout: 1 };
  const { server, url } = await startApp(t, {
    settings: { profiles: ['T'], ...limits, ...settings },
    seed: { tasks },
  });
  const { port } = new URL(url);
  const closed = once(server.server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
  return { port: Number(port), closed };
};

/** Requests all tasks and reads only the beginning of the response. */
const askForAll = async (t: TestContext, socket: Socket): Promise<void> => {
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(`GET /api/tasks?limit=${count} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const [piece] = await once(socket, 'data');
  assert.match(String(piece), /^HTTP\/1\.1 200 /);
  socket.pause();
};

test('a client that does not read its response is disconnected', { timeout }, async (t) => {
  const { port, closed } = await start(t);
  await askForAll(t, connect(port, '127.0.0.1'));
  await closed;
});

test('a TLS client that does not read its response is disconnected', { timeout }, async (t) => {
  const { cert, key, pem } = writeCertificate(createFolder(t), 'slow');
  const { port, closed } = await start(t, { tlsCert: cert, tlsKey: key });
  await askForAll(t, connectTls({ port, host: '127.0.0.1', ca: pem }));
  await closed;
});

test('a client that reads slowly gets the whole response', async (t) => {
  const patience = 2;
  const { port } = await start(t, { requestTimeout: patience });
  const socket = connect(port, '127.0.0.1');
  const began = performance.now();
  await askForAll(t, socket);
  let length = 0;
  socket.on('data', (piece) => {
    length += piece.length;
    if (performance.now() - began > 1.5 * patience * 1000) return;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  socket.resume();
  const signal = toSignal(socket);
  while (length < count * 1000) await once(socket, 'data', { signal });
  assert.ok(performance.now() - began > patience * 1000);
});

/** Returns a signal that is aborted when the connection ends. */
const toSignal = (socket: Socket): AbortSignal => {
  const controller = new AbortController();
  socket.once('close', () => controller.abort(new Error('the connection has ended')));
  return controller.signal;
};
