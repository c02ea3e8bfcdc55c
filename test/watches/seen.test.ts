import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { startApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { atEnd } from '../support/scope.ts';
import { createPair } from './support/pairs.ts';
import { createWatch, readWatch, tryWatch, waitForAlerts } from './support/watches.ts';

test('a failed check shows the start of the response and the time of each phase, also in its alert', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const body = `{"error":"no database"}\u0007\u202e${'x'.repeat(2000)}`;
  const server = await startReceiver(t, (response) => void response.writeHead(503).end(body));
  await createWatch(app, token, { name: 'shop', type: 'http', url: server.url, every: 1, message: 'Call Anna' });
  const [alert] = await waitForAlerts(app, 1);
  assert.equal(alert?.message, `shop: ${server.url} responded 503 (expected: 200-299)`);
  const [advice, timings, start] = alert?.details?.split(/\n+/) ?? [];
  assert.equal(advice, 'Call Anna');
  assert.match(timings ?? '', /^Timings: connection \d+ ms, first byte \d+ ms$/);
  assert.match(start ?? '', /^\{"error":"no database"\} {2}x+…$/);
  assert.equal(start?.length, 500);
  const { seen } = (await readWatch(app, token, 'shop')).things[0] ?? {};
  assert.equal(seen?.text, start);
  assert.deepEqual([seen?.failed, seen?.timings?.dns, seen?.timings?.tls], [null, null, null]);
  assert.ok(Number(seen?.timings?.connect) >= 0 && Number(seen?.timings?.firstByte) >= 0, JSON.stringify(seen));
  server.behave((response) => void response.end('ok'));
  const [good] = await tryWatch(app, token, { type: 'http', url: server.url.replace('127.0.0.1', 'localhost') });
  assert.equal(good?.seen?.text, null);
  assert.ok(good?.seen?.timings?.dns !== null, 'a name is looked up');
});

const listen = async (t: Scope, server: ReturnType<typeof createServer>): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** Starts a server that never accepts connections and has a full queue, so that further connections get no answer. */
const startFull = async (t: Scope): Promise<number> => {
  const script = `import socket, time
server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(0)
clients = [socket.socket() for _ in range(4)]
for client in clients: client.setblocking(False); client.connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True); time.sleep(60)`;
  const child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => void child.kill('SIGKILL'));
  const [port] = await once(child.stdout, 'data');
  return Number(port);
};

test('a check of a server that hangs names the phase: connection, TLS handshake, first byte or rest', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const mute = await listen(t, createServer());
  const tls = await listen(t, createTlsServer(createPair(t, 3600)));
  const cut = await listen(
    t,
    createServer((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')),
  );
  const full = await startFull(t);
  const cases = [
    [{ url: `http://127.0.0.1:${full}` }, 'connect', 'Timings: no connection'],
    [{ url: `https://localhost:${mute}` }, 'tls', /^Timings: name lookup \d+ ms, connection \d+ ms, no TLS handshake$/],
    [{ url: `http://127.0.0.1:${mute}` }, 'firstByte', /^Timings: connection \d+ ms, no first byte$/],
    [{ url: `http://127.0.0.1:${cut}` }, 'body', /, first byte \d+ ms, no rest of the response$/],
  ] as const;
  for (const [index, [settings]] of cases.entries())
    await createWatch(app, token, { name: `hang-${index}`, type: 'http', ...settings });
  const alerts = await waitForAlerts(app, cases.length, 30_000);
  for (const [index, [, phase, details]] of cases.entries()) {
    const alert = alerts.find(({ source }) => source === `watch/hang-${index}`);
    assert.match(alert?.message ?? '', /fails: no response was received in time$/);
    assert.match(alert?.details ?? '', new RegExp(details));
    assert.equal((await readWatch(app, token, `hang-${index}`)).things[0]?.seen?.failed, phase);
  }
  // The certificate is self-signed.
  const [refused] = await tryWatch(app, token, { type: 'http', url: `https://localhost:${tls}` });
  assert.equal(refused?.seen?.failed, 'tls');
});

test('a check reads only a small part of a page of 1 GB', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  let sent = 0;
  const chunk = Buffer.alloc(65_536, 'a');
  const server = await startReceiver(t, (response) => {
    response.writeHead(500, { 'content-length': 1024 ** 3 });
    const write = (): void => {
      while (!response.destroyed && sent < 1024 ** 3 && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', write);
    write();
  });
  const [thing] = await tryWatch(app, token, { type: 'http', url: server.url });
  assert.equal(thing?.text, `${server.url} responded 500 (expected: 200-299)`);
  assert.equal(thing?.seen?.text?.length, 500);
  assert.ok(sent < 64 * 1024 ** 2, `${sent} bytes were sent`);
});
