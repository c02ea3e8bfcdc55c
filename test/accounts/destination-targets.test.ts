import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeConfig } from '../support/config-file.ts';
import { secret } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { startMailServer } from '../support/mail-server.ts';
import { type Running, startProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { waitUntil } from '../support/wait.ts';

const token = signToken(createClaims());
const variables = { SIGNALBOX_JWT_SECRET: secret };

const put = (server: Running, name: string, body: object) =>
  server.request<{ error: string }>('PUT', `/api/destinations/${name}`, { token, body });

const tryOut = async (server: Running, name: string) => {
  const { json } = await server.request<{ delivered: boolean; response: string }>(
    'POST',
    `/api/destinations/${name}/test`,
    { token },
  );
  return json;
};

const readDelivery = async (server: Running, name: string) => {
  const { json } = await server.request<{
    data: { destination: string; state: string; lagAlerts: number; lastError: { reason: string } | null }[];
  }>('GET', '/api/deliveries', { token });
  return json.data.find(({ destination }) => destination === name);
};

const mail = (port: number, host = '127.0.0.1') => ({
  type: 'email',
  url: `smtp://${host}:${port}`,
  from: 'signalbox@example.org',
  to: ['anna@example.org'],
});

test('destinations created at run time reach only watchTargets; destinations of the config file reach any address', async (t) => {
  const [receiver, mailServer] = [await startReceiver(t), await startMailServer(t)];
  const { port } = new URL(receiver.url);
  const cwd = createFolder(t);
  const start = (watchTargets: string[], destinations: object[] = []) => {
    const path = writeConfig(cwd, { watchTargets, destinations, store: 'file' });
    return startProgram(t, ['--config', path], { cwd, variables });
  };
  const before = await start([]);
  for (const [name, body] of [
    ['address', { type: 'webhook', url: receiver.url }],
    ['name', { type: 'webhook', url: `http://localhost:${port}/` }],
    ['template', { type: 'template', url: `http://127.0.0.1:${port}/?source={source}`, method: 'GET' }],
    ['mail', mail(mailServer.port)],
    ['mail-name', mail(mailServer.port, 'localhost')],
  ] as const) {
    const { status, json } = await put(before, name, body);
    assert.equal(status, 201, json.error);
    assert.equal((await tryOut(before, name)).delivered, true, name);
  }
  await before.stop();
  const [requests, mails] = [receiver.requests.length, mailServer.mails.length];
  assert.deepEqual([requests, mails], [3, 2]);

  const trusted = { name: 'trusted', type: 'webhook', url: `${receiver.url}/trusted` };
  const narrow = await start(['192.0.2.0/24'], [trusted]);
  for (const [name, host] of [
    ['address', '127.0.0.1'],
    ['name', 'localhost'],
    ['template', '127.0.0.1'],
    ['mail', '127.0.0.1'],
    ['mail-name', 'localhost'],
  ] as const) {
    const refusal = `${host} is not allowed by watchTargets`;
    assert.deepEqual(await tryOut(narrow, name), { delivered: false, response: refusal });
  }
  const { status, json } = await put(narrow, 'address', { type: 'webhook', url: receiver.url });
  assert.equal(status, 400);
  assert.equal(
    json.error,
    '127.0.0.1 is not allowed by watchTargets: add the host to watchTargets, or define the destination in the config file',
  );
  assert.equal((await put(narrow, 'mail', mail(mailServer.port))).status, 400);
  assert.equal((await narrow.request('POST', '/api/alert', { token, body: { message: 'disk is full' } })).status, 200);
  await waitUntil('the destinations say why nothing is sent', async () => {
    const all = await Promise.all(
      ['address', 'name', 'template', 'mail', 'mail-name'].map((name) => readDelivery(narrow, name)),
    );
    return all.every(
      (one) => one?.state === 'failing' && /^\S+ is not allowed by watchTargets$/.test(String(one.lastError?.reason)),
    );
  });
  await waitUntil('the trusted destination has the alert', () => receiver.requests.length > requests);
  assert.deepEqual(
    receiver.requests.slice(requests).filter(({ path }) => path !== '/trusted'),
    [],
  );
  assert.equal(mailServer.mails.length, mails);
  assert.ok(((await readDelivery(narrow, 'address'))?.lagAlerts ?? 0) > 0);

  writeConfig(cwd, { watchTargets: ['127.0.0.1'], destinations: [trusted], store: 'file' });
  narrow.child.kill('SIGHUP');
  await waitUntil('waiting alerts are delivered after a reload that allows their address', async () => {
    const all = await Promise.all(
      ['address', 'name', 'template', 'mail', 'mail-name'].map((name) => readDelivery(narrow, name)),
    );
    return all.every((one) => one?.state === 'idle');
  });
});

test('the test of a destination follows no redirect, and shows the status and 500 characters', async (t) => {
  const server = await startProgram(t, [], { variables });
  const inner = await startReceiver(t);
  const receiver = await startReceiver(t, answer(302, { location: inner.url }));
  await put(server, 'hook', { type: 'webhook', url: receiver.url });
  assert.deepEqual(await tryOut(server, 'hook'), { delivered: false, response: '302' });
  assert.equal(inner.requests.length, 0);
  for (const [length, shown] of [
    [500, 'é'.repeat(500)],
    [501, `${'é'.repeat(499)}…`],
    [20_000, `${'é'.repeat(499)}…`],
  ] as const) {
    receiver.behave((response) => void response.writeHead(404).end('é'.repeat(length)));
    assert.deepEqual(await tryOut(server, 'hook'), { delivered: false, response: `404\n${shown}` });
  }
});
