import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type ConnectionProgress, Connections, endStalled, isStalled, toProgress } from './connections.ts';

const waiting: ConnectionProgress = { read: 10, taken: 100, isWaiting: true, stuckSince: 1000, silentSince: 1000 };
const quiet: ConnectionProgress = { ...waiting, isWaiting: false };
const socket = { bytesRead: 10, bytesWritten: 150, writableLength: 50 };
const idleSocket = { bytesRead: 10, bytesWritten: 100, writableLength: 0 };

test('while no pending byte is sent, the stuck time counts from the first check that found it', () => {
  assert.deepEqual(toProgress(socket, false, undefined, 1000), waiting);
  assert.deepEqual(toProgress(socket, false, waiting, 9000), waiting);
  const fuller = { ...socket, bytesWritten: 180, writableLength: 80 };
  assert.deepEqual(toProgress(fuller, false, waiting, 9000), waiting);
});

test('received bytes reset the silence timer but not the stuck timer', () => {
  const progress = toProgress({ ...socket, bytesRead: 11 }, false, waiting, 9000);
  assert.deepEqual(progress, { ...waiting, read: 11, silentSince: 9000 });
});

test('a sent byte resets the stuck timer, and a connection without pending bytes is never stuck', () => {
  const taken = toProgress({ ...socket, writableLength: 49 }, false, waiting, 9000);
  assert.deepEqual(taken, { ...waiting, taken: 101, stuckSince: 9000, silentSince: 9000 });
  const idle = toProgress(idleSocket, false, waiting, 9000);
  assert.deepEqual(idle, { ...quiet, stuckSince: 9000 });
  const next = { ...idleSocket, bytesWritten: 110, writableLength: 10 };
  assert.equal(toProgress(next, false, idle, 10_000).stuckSince, 10_000);
});

test('a running request resets the silence timer', () => {
  assert.equal(toProgress(idleSocket, false, quiet, 50_000).silentSince, 1000);
  assert.equal(toProgress(idleSocket, true, quiet, 50_000).silentSince, 50_000);
});

test('a connection is stalled if its client reads nothing for longer than allowed', () => {
  const patience = { reading: 30_000, silence: 60_000 };
  assert.equal(isStalled(waiting, patience, 31_000), false);
  assert.equal(isStalled(waiting, patience, 31_001), true);
});

test('a connection with nothing to send is stalled if it is silent for longer than allowed', () => {
  const patience = { reading: 30_000, silence: 60_000 };
  assert.equal(isStalled(quiet, patience, 61_000), false);
  assert.equal(isStalled(quiet, patience, 61_001), true);
});

const open = async (t: TestContext, port: number): Promise<Socket> => {
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  t.after(() => client.destroy());
  await once(client, 'connect');
  return client;
};

test('a silent connection is closed, while a sending one and one with a running request stay open', async (t) => {
  const server = createServer();
  const connections = new Connections(server, 10, () => false);
  endStalled(server, connections, { reading: 30_000, silence: 1500 });
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection) connection.response = response;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const [silent, sending, running] = [await open(t, port), await open(t, port), await open(t, port)];
  sending.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
  const beat = setInterval(() => sending.write('X-Beat: 1\r\n'), 100);
  t.after(() => clearInterval(beat));
  running.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await new Promise((resolve) => silent.once('close', resolve));
  assert.deepEqual([sending.closed, running.closed], [false, false]);
});
