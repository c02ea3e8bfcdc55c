import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { listenPlain } from '../../../test/hosts/support/hosts.ts';
import { atEnd } from '../../../test/support/scope.ts';
import { HubClient } from './hub-client.ts';

/** Server that cannot accept connections, because its thread is blocked. */
const blocked = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

test('a hub that drops connection attempts fails a report after the timeout', { timeout: 5000 }, async (t) => {
  const worker = new Worker(blocked, { eval: true });
  atEnd(t, () => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  atEnd(t, () => {
    for (const socket of waiting) socket.destroy();
  });
  const client = new HubClient({ url: `http://127.0.0.1:${port}` }, 500);
  atEnd(t, () => client.close());
  const begun = performance.now();
  const { status, reason } = await client.send('api', {}, false);
  assert.equal(status, 0);
  assert.match(reason, /: no response within 0\.5 s$/);
  assert.ok(performance.now() - begun < 5000);
});

test('a hub that sends its response slowly fails a report after the timeout', { timeout: 5000 }, async (t) => {
  const server = createServer((_request, response) => {
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  });
  const client = new HubClient({ url: await listenPlain(t, server) }, 500);
  atEnd(t, () => client.close());
  const { status, reason } = await client.send('api', {}, false);
  assert.equal(status, 0);
  assert.match(reason, /: no response within 0\.5 s$/);
});

test('a response of 8 MiB with pushed watches is read', async (t) => {
  const watches = [{ watch: { name: 'shop', body: 'x'.repeat(8 * 1024 * 1024) }, isVote: false }];
  const server = createServer((_request, response) => response.end(JSON.stringify({ watches })));
  const client = new HubClient({ url: await listenPlain(t, server) });
  atEnd(t, () => client.close());
  assert.equal((await client.send('api', {}, false)).status, 200);
});
