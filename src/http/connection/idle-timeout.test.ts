import assert from 'node:assert/strict';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { cutStalled, isStalled, type Progress, toProgress } from './idle-timeout.ts';

const waiting: Progress = { read: 10, taken: 100, isWaiting: true, since: 1000, silentSince: 1000 };
const quiet: Progress = { read: 10, taken: 100, isWaiting: false, since: 1000, silentSince: 1000 };

test('while bytes wait and none is taken, the time counts from when that was first seen', () => {
  const socket = { bytesRead: 10, bytesWritten: 150, writableLength: 50 };
  assert.deepEqual(toProgress(socket, undefined, 1000), waiting);
  assert.deepEqual(toProgress(socket, waiting, 9000), waiting);
  // More was added, and nothing taken.
  assert.deepEqual(toProgress({ ...socket, bytesWritten: 180, writableLength: 80 }, waiting, 9000), waiting);
});

test('what comes in while bytes wait does not begin their time anew', () => {
  const socket = { bytesRead: 11, bytesWritten: 150, writableLength: 50 };
  assert.deepEqual(toProgress(socket, waiting, 9000), { ...waiting, read: 11, silentSince: 9000 });
});

test('a byte that is taken begins the time anew, and nothing that waits means no time', () => {
  const taken = toProgress({ bytesRead: 10, bytesWritten: 150, writableLength: 49 }, waiting, 9000);
  assert.deepEqual(taken, { read: 10, taken: 101, isWaiting: true, since: 9000, silentSince: 9000 });
  const idle = toProgress({ bytesRead: 10, bytesWritten: 100, writableLength: 0 }, waiting, 9000);
  assert.deepEqual(idle, { ...quiet, since: 9000 });
  assert.equal(
    toProgress({ bytesRead: 10, bytesWritten: 110, writableLength: 10 }, idle, 10_000).since,
    10_000,
  );
});

test('a connection is stalled when its client takes nothing for longer than it may', () => {
  assert.equal(isStalled(waiting, { answer: 30_000 }, 31_000), false);
  assert.equal(isStalled(waiting, { answer: 30_000 }, 31_001), true);
});

test('a connection with nothing to send is stalled when nothing has moved for more than a minute', () => {
  assert.equal(isStalled(quiet, { answer: 30_000 }, 61_000), false);
  assert.equal(isStalled(quiet, { answer: 30_000 }, 61_001), true);
  const socket = { bytesRead: 10, bytesWritten: 100, writableLength: 0 };
  assert.equal(toProgress(socket, quiet, 50_000).silentSince, 1000);
  assert.equal(toProgress({ ...socket, bytesRead: 11 }, quiet, 50_000).silentSince, 50_000);
});

test('a connection whose request is never answered is cut off, and one on which something moves is not', async (t) => {
  const app = Fastify();
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket) => sockets.add(socket));
  app.get('/', () => new Promise(() => undefined));
  cutStalled(app, sockets, { answer: 30_000, silence: 2500 });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const open = (): Socket => connect(port, '127.0.0.1').on('error', () => undefined);
  const [silent, busy] = [open(), open()];
  const beat = setInterval(() => busy.write('X-Beat: 1\r\n'), 100);
  t.after(async () => {
    clearInterval(beat);
    busy.destroy();
    await app.close();
  });
  silent.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  busy.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
  await new Promise((resolve) => silent.once('close', resolve));
  assert.equal(busy.closed, false);
});
