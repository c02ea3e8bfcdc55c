import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { type CertificateFiles, writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd } from '../support/scope.ts';

/** Starts a receiver with a certificate from a private CA, and counts its requests. */
const startOwn = async (t: TestContext) => {
  const files: CertificateFiles = writeCertificate(createFolder(t), 'localhost');
  let requests = 0;
  const pair = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  const server = createServer(pair, (_request, response) => {
    requests += 1;
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}/`, files, count: () => requests };
};

test('a destination trusts the CA of its settings, in the config file or created at run time', async (t) => {
  const { url, files, count } = await startOwn(t);
  const common = { type: 'webhook', url };
  const destinations = [
    { ...common, name: 'none' },
    { ...common, name: 'text', ca: files.pem },
    { ...common, name: 'file', caFile: files.cert },
  ];
  const app = await startApp(t, { settings: { destinations } });
  const token = await app.login('admin');
  const check = async (name: string) =>
    (await app.request('POST', `/api/destinations/${name}/test`, { token })).json as Record<string, unknown>;
  const refused = await check('none');
  assert.equal(refused['delivered'], false);
  assert.equal(refused['response'], 'the certificate was not signed by a trusted CA: set ca or caFile');
  for (const name of ['text', 'file']) assert.deepEqual(await check(name), { delivered: true, response: '200\nok' });
  const put = (name: string, body: object) => app.request('PUT', `/api/destinations/${name}`, { token, body });
  assert.equal((await put('made', { ...common, ca: files.pem })).status, 201);
  assert.equal((await check('made'))['delivered'], true);
  assert.equal(count(), 3);
  for (const [body, problem] of [
    [{ ...common, ca: 'no certificate' }, /ca has no certificate in PEM/],
    [{ ...common, caFile: files.cert }, /caFile can be set only in the config file/],
  ] as const) {
    const { status, text } = await put('other', body);
    assert.equal(status, 400);
    assert.match(text, problem);
  }
});

test('unreadable CAs stop the start with the name of their destination', async (t) => {
  const common = { name: 'pager', type: 'webhook', url: 'https://localhost/' };
  for (const [more, problem] of [
    [{ caFile: '/nowhere/ca.pem' }, /destination "pager": cannot read caFile \/nowhere\/ca\.pem: ENOENT/],
    [{ ca: 'x' }, /destination "pager": ca has no certificate in PEM/],
    [{ ca: 'x', caFile: 'y' }, /destination "pager": set either ca or caFile, not both/],
  ] as const) {
    await assert.rejects(startApp(t, { settings: { destinations: [{ ...common, ...more }] } }), problem);
  }
});
