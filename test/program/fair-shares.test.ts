import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { type Connection, openConnection } from '../support/connection.ts';
import { openEvents } from '../support/events.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const skip = process.platform !== 'linux' && 'only Linux has the addresses 127.0.0.2 and 127.0.0.3';

/** Address that takes as much as possible, and an address with few requests. */
const greedy = '127.0.0.2';
const modest = '127.0.0.3';

/** Settings without a limit on delays, so that a busy machine never causes a 503. */
const patient = { maxEventLoopDelay: 0 };

const open = (t: TestContext, url: string, localAddress: string): Connection => {
  const connection = openConnection(url, { localAddress });
  t.after(connection.destroy);
  return connection;
};

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

const ask = async (connection: Connection, text = get('/api/tasks')): Promise<number | undefined> => {
  connection.send(text);
  return (await connection.next())?.status;
};

/** Opens connections that stay open, and sends one request on each. */
const fill = async (t: TestContext, url: string, localAddress: string, count: number): Promise<Connection[]> => {
  const connections = Array.from({ length: count }, () => open(t, url, localAddress));
  for (const connection of connections) assert.equal(await ask(connection), 200);
  return connections;
};

test('an address that holds all connections loses idle ones to another address, and keeps those in use', {
  skip,
}, async (t) => {
  const { url } = await startApp(t, { settings: { ...patient, maxConnections: 8 } });
  const [busy, ...idle] = await fill(t, url, greedy, 8);
  busy?.send(get('/api/events?topics=tasks'));
  assert.equal(await ask(open(t, url, greedy)), 503);
  for (let asked = 0; asked < 3; asked += 1) assert.equal(await ask(open(t, url, modest)), 200, `connection ${asked}`);
  for (const connection of idle.slice(0, 3)) assert.equal((await connection.closed()).responses.length, 0);
  for (const connection of idle.slice(3)) assert.equal(await ask(connection), 200);
  assert.equal(busy?.isOpen(), true);
});

test('an address whose connections are all in use loses the oldest to another address', { skip }, async (t) => {
  const { url } = await startApp(t, { settings: { ...patient, maxConnections: 8 } });
  const connections = await fill(t, url, greedy, 8);
  for (const connection of connections) connection.send(get('/api/events?topics=tasks'));
  await waitUntil('all stream', () => connections.every((connection) => connection.unread().includes('hello')));
  assert.equal(await ask(open(t, url, modest)), 200);
  await waitUntil('the oldest connection is closed', () => connections[0]?.isOpen() === false);
  assert.ok(connections.slice(1).every((connection) => connection.isOpen()));
});

test('an address that opens connections again and again does not keep others out', { skip }, async (t) => {
  // The server runs in a separate process, so that the clients do not use its CPU time.
  const { url } = await startProgram(t, ['--profiles', 'T', '--max-connections', '8']);
  let isOver = false;
  const flood = async (): Promise<void> => {
    while (!isOver) {
      const connection = open(t, url, greedy);
      connection.send(get('/api/tasks'));
      await connection.next().catch(() => undefined);
      if (connection.isOpen()) await Promise.race([connection.closed(), over]);
    }
  };
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const floods = Array.from({ length: 150 }, flood);
  for (let asked = 0; asked < 50; asked += 1) {
    const connection = open(t, url, modest);
    assert.equal(await ask(connection), 200, `request ${asked}`);
    connection.destroy();
  }
  isOver = true;
  end();
  await Promise.all(floods);
});

test('a trusted proxy may use all connections, and none of them is closed for other addresses', { skip }, async (t) => {
  const { url } = await startApp(t, { settings: { ...patient, maxConnections: 4, trustProxy: [greedy] } });
  const connections = await fill(t, url, greedy, 4);
  assert.equal(await ask(open(t, url, modest)), 503);
  for (const connection of connections) assert.equal(await ask(connection), 200);
});

const mebibyte = 1024 * 1024;

/** Sends a body except for its last bytes, one byte at a time. */
const drip = (connection: Connection, more = ''): NodeJS.Timeout => {
  connection.send(`POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${mebibyte}\r\n${more}\r\n`);
  connection.send(Buffer.alloc(mebibyte - 76, ' '));
  return setInterval(() => connection.send(' '), 400);
};

/**
 * Fills the room for bodies until `isFull`. A body that pauses for a second, as on a busy machine, loses its room to
 * the next body. `more` contains further header lines.
 */
const dripBodies = async (
  t: TestContext,
  url: string,
  isFull: () => Promise<boolean>,
  more = '',
): Promise<Connection[]> => {
  const bodies: Connection[] = [];
  const add = (): void => {
    const connection = open(t, url, greedy);
    const timer = drip(connection, more);
    t.after(() => clearInterval(timer));
    bodies.push(connection);
  };
  for (let index = 0; index < 64; index += 1) add();
  await waitUntil('the room for bodies is full', async () => {
    if (await isFull()) return true;
    add();
    return false;
  });
  return bodies;
};

const toPost = (length: number, more = '', path = '/api/tasks'): string => {
  const body = JSON.stringify({ Title: 'x', text: 'x', Description: 'x'.repeat(length) });
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;
};

test('an address whose unfinished bodies take all the room loses a body to another address that sends bodies', {
  skip,
}, async (t) => {
  const { url } = await startApp(t, { settings: patient });
  const bodies = await dripBodies(t, url, async () => (await ask(open(t, url, greedy), toPost(20_000))) === 503);
  const countLost = (): number =>
    bodies.filter((connection) => !connection.isOpen() || connection.unread().startsWith('HTTP/1.1 503 ')).length;
  const before = countLost();
  for (let sent = 0; sent < 10; sent += 1) {
    assert.equal(await ask(open(t, url, modest), toPost(900_000)), 201, `body ${sent}`);
  }
  await waitUntil('an unfinished body is refused or closed', () => countLost() > before);
});

test('bodies of several alerts have a separate limit', { skip }, async (t) => {
  const { url } = await startApp(t, { settings: patient });
  await dripBodies(t, url, async () => (await ask(open(t, url, greedy), toPost(20_000))) === 503);
  assert.equal(await ask(open(t, url, greedy), toPost(900_000, '', '/api/alert/slack')), 200);
});

test('bodies behind a trusted proxy count for the client addresses that the proxy names', { skip }, async (t) => {
  const { url } = await startApp(t, { settings: { ...patient, trustProxy: [greedy] } });
  const send = (length: number, client: string) =>
    ask(open(t, url, greedy), toPost(length, `X-Forwarded-For: ${client}\r\n`));
  const isFull = async () => (await send(20_000, '192.0.2.1')) === 503;
  await dripBodies(t, url, isFull, 'X-Forwarded-For: 192.0.2.1\r\n');
  assert.equal(await send(900_000, '192.0.2.2'), 201);
});

test('an address that holds all event streams loses the oldest to another address', { skip }, async (t) => {
  const { url } = await startApp(t, { settings: patient });
  const streams = [];
  for (let index = 0; index < 128; index += 1) streams.push(await openEvents(t, url, 'tasks', { from: greedy }));
  const more = await openEvents(t, url, 'tasks', { from: greedy });
  assert.equal(more.status, 503);
  const first = await openEvents(t, url, 'tasks', { from: modest });
  assert.equal(first.status, 200);
  await streams[0]?.ended;
  for (let index = 1; index < 32; index += 1) {
    assert.equal((await openEvents(t, url, 'tasks', { from: modest })).status, 200, `stream ${index}`);
  }
  await streams[31]?.ended;
  await first.waitFor('hello');
});

test('event streams behind a trusted proxy count for the client addresses that the proxy names', {
  skip,
}, async (t) => {
  const { url } = await startApp(t, { settings: { ...patient, trustProxy: ['127.0.0.1'] } });
  const openFor = (client: string) => openEvents(t, url, 'tasks', { headers: { 'x-forwarded-for': client } });
  const streams = [];
  for (let index = 0; index < 128; index += 1) streams.push(await openFor('192.0.2.1'));
  assert.equal((await openFor('192.0.2.1')).status, 503);
  assert.equal((await openFor('192.0.2.2')).status, 200);
  await streams[0]?.ended;
});
