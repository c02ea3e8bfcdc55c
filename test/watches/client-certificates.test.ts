import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { Watch } from '../../src/features/watches/schema.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { createPair } from './support/pairs.ts';
import { createWatch, readWatch, tryWatch, waitForState } from './support/watches.ts';

type Pair = ReturnType<typeof createPair>;

/** Starts a server that demands a client certificate. Resolves to its URL and the number of its TLS clients. */
const startServer = async (t: Scope, own: Pair, client: Pair) => {
  const names: boolean[] = [];
  const options = { ...own, ca: client.cert, requestCert: true, rejectUnauthorized: true };
  const server = createServer(options, (request, response) => {
    names.push((request.socket as TLSSocket).authorized);
    const [, location] = /^\/to=(.*)/.exec(request.url ?? '') ?? [];
    response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location }).end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, names };
};

const refusal = async ({ request }: TestApp, token: string, method: string, path: string, body: object) => {
  const { status, json } = await request<{ error: string }>(method, path, { token, body });
  return [status, json.error] as const;
};

test('a watch shows its client certificate, keeps the key secret, and sends it to no other server', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const [own, client] = [createPair(t, 3600), createPair(t, 3600)];
  const { url, names } = await startServer(t, own, client);
  const other = await startServer(t, own, createPair(t, 3600));
  const again = await startServer(t, own, client);
  const watch = { name: 'mutual', type: 'http', url, ca: String(own.cert), every: 1 };
  const [without] = await tryWatch(app, token, watch);
  assert.match(without?.text ?? '', /fails: the (server requires a client certificate|connection was closed)$/);
  const pair = { certificate: String(client.cert), key: String(client.key) };
  assert.equal((await tryWatch(app, token, { ...watch, ...pair }))[0]?.state, 'ok');
  const away = { ...watch, ...pair, url: `${url}/to=${again.url}` };
  assert.match((await tryWatch(app, token, away))[0]?.text ?? '', /fails/);
  const same = { ...watch, ...pair, url: `${url}/to=/` };
  assert.equal((await tryWatch(app, token, same))[0]?.state, 'ok');
  const created = await createWatch(app, token, { ...watch, ...pair });
  await waitForState(app, token, 'mutual', 'ok');
  assert.deepEqual(names.includes(false), false);
  assert.deepEqual([created.hidden, created.settings.key], [['key'], undefined]);
  const { settings } = await readWatch(app, token, 'mutual');
  assert.equal(settings.certificate, pair.certificate);
  assert.ok(!JSON.stringify(await readWatch(app, token, 'mutual')).includes('PRIVATE KEY'));
  // The response can be edited and sent back.
  const changed = await app.request<Watch>('PUT', '/api/watches/mutual', { token, body: { ...settings, retries: 1 } });
  assert.deepEqual([changed.status, changed.json.hidden, changed.json.settings.retries], [200, ['key'], 1]);
  assert.equal((await tryWatch(app, token, settings))[0]?.state, 'ok');
  const elsewhere = { ...settings, url: other.url };
  const refused = 'url decides who receives the stored key: to change url, enter the key again';
  assert.deepEqual(await refusal(app, token, 'PUT', '/api/watches/mutual', elsewhere), [400, refused]);
  assert.deepEqual(await refusal(app, token, 'POST', '/api/watches/test', elsewhere), [400, refused]);
  const { certificate: _, ...none } = settings;
  const removed = await app.request<Watch>('PUT', '/api/watches/mutual', { token, body: none });
  assert.deepEqual([removed.status, removed.json.hidden], [200, []]);
});

test('a client certificate without its key is refused, and certificate files can be set only in the config file', async (t) => {
  const folder = createFolder(t);
  const [own, client] = [createPair(t, 3600), createPair(t, 3600)];
  const { url } = await startServer(t, own, client);
  const paths = {
    caFile: join(folder, 'ca.pem'),
    certificateFile: join(folder, 'c.pem'),
    keyFile: join(folder, 'k.pem'),
  };
  writeFileSync(paths.caFile, own.cert);
  writeFileSync(paths.certificateFile, client.cert);
  writeFileSync(paths.keyFile, client.key);
  chmodSync(paths.keyFile, 0o600);
  const app = await startApp(t, { settings: { watches: [{ name: 'files', type: 'http', url, ...paths }] } });
  const token = await app.login('admin');
  await waitForState(app, token, 'files', 'ok');
  assert.equal((await tryWatch(app, token, (await readWatch(app, token, 'files')).settings))[0]?.state, 'ok');
  const certificate = String(client.cert);
  for (const [settings, error] of [
    [paths, 'watches of files and programs can be defined only in the config file, in watches'],
    [{ certificate }, 'certificate needs key: set both'],
    [{ key: String(client.key) }, 'key needs certificate: set both'],
    [{ certificate, key: 'none' }, 'key must be a private key in PEM without a passphrase'],
    [{ certificate, key: String(own.key) }, 'key does not match certificate'],
    [{ certificate: 'none', key: String(own.key) }, 'certificate has no certificate in PEM'],
    [{ certificate, certificateFile: 'x' }, 'set either certificate or certificateFile, not both'],
  ] as const) {
    const body = { name: 'x', type: 'http', url, ...settings };
    assert.deepEqual(await refusal(app, token, 'POST', '/api/watches', body), [400, error]);
  }
});
