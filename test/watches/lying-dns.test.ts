import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { tryWatch } from './support/watches.ts';

/** Starts a name server that sends, for each query, the messages returned by `lie`. Resolves to its address. */
const startLiar = async (t: Scope, lie: (query: Buffer) => Buffer[]): Promise<string> => {
  const socket = createSocket('udp4');
  atEnd(t, () => void socket.close());
  socket.on('message', (query, { port, address }) => {
    for (const message of lie(query)) socket.send(message, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
};

/** Creates a response to a query with answer records. The header announces `count` records. */
const respond = (query: Buffer, count: number, ...records: Buffer[]): Buffer => {
  const header = Buffer.from('818000010000000000000000', 'hex').subarray(0, 10);
  header.writeUInt16BE(count, 4);
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  return Buffer.concat([query.subarray(0, 2), header, question, ...records]);
};

/** Creates an A record for 192.0.2.7 with the given length. */
const record = (length = 4): Buffer => {
  const bytes = Buffer.from('c00c000100010000003c0004c0000207', 'hex');
  bytes.writeUInt16BE(length, 10);
  return bytes;
};

test('a name server that sends false responses causes a fault: no false response is accepted or stops the server', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const lies: Record<string, (query: Buffer) => Buffer[]> = {
    honest: (query) => [respond(query, 1, record())],
    garbage: () => [Buffer.alloc(500, 0xff)],
    empty: () => [Buffer.alloc(0), Buffer.from([1])],
    'another id': (query) => [
      Buffer.concat([Buffer.from([~(query[0] ?? 0) & 255, 0]), respond(query, 1, record()).subarray(2)]),
    ],
    'another question': (query) => [
      Buffer.from(respond(query, 1, record()).toString('latin1').replace('shop', 'evil'), 'latin1'),
    ],
    'too many records': (query) => [respond(query, 60_000, record())],
    'a long record': (query) => [respond(query, 1, record(60_000))],
    // The name points to itself.
    circle: (query) => [respond(query, 1, Buffer.from('c01b000100010000003c0004c0000207', 'hex'))],
    'no records': (query) => [respond(query, 0)],
  };
  await Promise.all(
    Object.entries(lies).map(async ([name, lie]) => {
      const server = await startLiar(t, lie);
      const settings = { type: 'dns', host: 'shop.test', server, expected: '192.0.2.7' };
      const [thing] = await tryWatch(app, token, settings);
      assert.equal(thing?.state, name === 'honest' ? 'ok' : 'pending', `${name}: ${thing?.text}`);
    }),
  );
  // If a name server returns a forbidden address, the address is not reached. The test uses localhost as such a name.
  const strict = await startApp(t, { settings: { watchTargets: ['192.0.2.0/24'] } });
  const [thing] = await tryWatch(strict, await strict.login('admin'), { type: 'redis', host: 'localhost', port: 1 });
  assert.deepEqual([thing?.state, thing?.text], ['cannot check', 'localhost is not allowed by watchTargets']);
});
