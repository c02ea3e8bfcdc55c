import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type LookupFunction, type Socket } from 'node:net';
import { test } from 'node:test';
import { answer, type Behaviour, startReceiver } from '../../../../test/support/receiver.ts';
import { createReach } from '../../../kit/reach.ts';
import { MiB } from '../../../lib/units.ts';
import { createHttpTransport, type ReceiverReply } from './http-transport.ts';

const request = { path: '/', headers: { 'content-type': 'text/plain' }, body: 'x' };

/** Returns the reply of a receiver with the given behaviour, and the duration in milliseconds. */
const sendTo = async (
  t: Parameters<typeof startReceiver>[0],
  behaviour: Behaviour,
  seconds = 5,
): Promise<[ReceiverReply, number]> => {
  const { url } = await startReceiver(t, behaviour);
  const transport = createHttpTransport({ url: new URL(url) }, 1, seconds);
  t.after(() => transport.close());
  const begun = performance.now();
  return [await transport.send(request), performance.now() - begun];
};

test('only 64 KiB of a response of 1 GB are read, and the connection is closed', async (t) => {
  let written = 0;
  let closed: Promise<unknown> = Promise.resolve();
  const [reply] = await sendTo(t, (response) => {
    closed = once(response, 'close');
    response.writeHead(200, { 'content-length': 1024 * MiB });
    const piece = Buffer.alloc(MiB, 'x');
    const write = (): void => {
      for (; written < 1024; written += 1) {
        if (response.destroyed || !response.write(piece)) break;
      }
    };
    response.on('drain', write);
    write();
  });
  assert.ok('status' in reply);
  assert.equal(reply.status, 200);
  assert.equal(reply.text.length, 64 * 1024);
  await closed;
  assert.ok(written < 100, `${written} MiB were written`);
});

test('a name that resolves to a cloud metadata address is not contacted, and the reason names the setting', async (t) => {
  const resolve: LookupFunction = (_host, _options, callback) =>
    callback(null, [{ address: '169.254.169.254', family: 4 }]);
  const transport = createHttpTransport({ url: new URL('http://localhost/') }, 1, 5, createReach([], resolve).lookup);
  t.after(() => transport.close());
  const reply = await transport.send(request);
  assert.equal('failure' in reply && reply.failure, 'localhost is not allowed by watchTargets');
});

test('a redirect is not followed', async (t) => {
  const elsewhere = await startReceiver(t);
  const [reply] = await sendTo(t, answer(307, { location: elsewhere.url }));
  assert.deepEqual(reply, { status: 307, retryAfter: undefined, text: '' });
  assert.equal(elsewhere.requests.length, 0);
});

test('a response that never begins or never ends is abandoned in time', async (t) => {
  const drip: Behaviour = (response) => {
    response.writeHead(202, { 'retry-after': '7' });
    const timer = setInterval(() => response.write('.'), 100);
    response.on('close', () => clearInterval(timer));
  };
  const [[silent, silentMs], [dripped, drippedMs]] = await Promise.all([
    sendTo(t, () => undefined, 1),
    sendTo(t, drip, 1),
  ]);
  assert.deepEqual(silent, { failure: 'no response within 1 s', isSent: true, isUnanswered: true });
  assert.ok('status' in dripped);
  assert.deepEqual([dripped.status, dripped.retryAfter], [202, '7']);
  for (const ms of [silentMs, drippedMs]) assert.ok(ms > 900 && ms < 10_000, `${ms} ms`);
});

test('bytes that are not HTTP, endless headers and a closed port are failures', async (t) => {
  const replies = ['hello\r\n\r\n', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined).once('data', () => socket.write(replies.shift() ?? ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const transport = createHttpTransport({ url: new URL(`http://127.0.0.1:${port}`) }, 1, 5);
  t.after(() => transport.close());
  for (let n = 0; n < 2; n += 1) {
    const reply = await transport.send(request);
    assert.ok('failure' in reply);
    assert.match(reply.failure, /^the request failed \(\w+\)$/);
  }
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
  assert.deepEqual(await transport.send(request), { failure: 'the connection was refused', isSent: false });
  const unknown = createHttpTransport({ url: new URL('http://unknown.invalid') }, 1, 5);
  t.after(() => unknown.close());
  const reply = await unknown.send(request);
  assert.ok('failure' in reply && /^the (host name is unknown|name server does not respond)$/.test(reply.failure));
});

test('closing a transport aborts its requests', async (t) => {
  const { url, requests } = await startReceiver(t, () => undefined);
  const transport = createHttpTransport({ url: new URL(url) }, 1, 5);
  const reply = transport.send(request);
  while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await transport.close();
  assert.ok('failure' in (await reply));
});

test('connections are kept open', async (t) => {
  const ports = new Set<number | undefined>();
  const { url } = await startReceiver(t, (response) => {
    ports.add(response.socket?.remotePort);
    response.end('thanks');
  });
  const transport = createHttpTransport({ url: new URL(url) }, 1, 5);
  t.after(() => transport.close());
  for (let n = 0; n < 5; n += 1)
    assert.deepEqual(await transport.send(request), { status: 200, retryAfter: undefined, text: 'thanks' });
  assert.equal(ports.size, 1);
});

test('the names of several receivers are looked up at a time', async (t) => {
  const receivers = await Promise.all([1, 2, 3].map(() => startReceiver(t)));
  const replies = receivers.map(({ url }) => {
    const transport = createHttpTransport({ url: new URL(url.replace('127.0.0.1', 'localhost')) }, 1, 5);
    t.after(() => transport.close());
    return transport.send(request);
  });
  for (const reply of await Promise.all(replies))
    assert.ok('status' in reply && reply.status === 200, JSON.stringify(reply));
});
