import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, startRefusal } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { createAuthority, type Signed } from './support/chains.ts';
import { readWatch, tryWatch, waitForState } from './support/watches.ts';

/** Starts an HTTPS server that sends certificates, beginning with its own. */
const startServer = async (t: Scope, own: Signed, ...others: Signed[]): Promise<number> => {
  const cert = [own, ...others].map(({ pem }) => pem).join('');
  const server = createServer({ key: own.key, cert }, (_request, response) => void response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** Returns the exit code of curl with trusted CAs: 0 for a success, 60 for a refused certificate. */
const askCurl = (port: number, ca: string): Promise<number> =>
  new Promise((resolve) => {
    const args = ['--silent', '--output', '/dev/null', '--cacert', ca, `https://localhost:${port}/`];
    execFile('curl', args, (error) => resolve(error ? Number(error.code) : 0));
  });

test('the first certificate of a chain to expire counts and is named, and curl agrees with each verdict', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const [root, old] = [createAuthority(t, 'Root'), createAuthority(t, 'Old Root')];
  const file = join(createFolder(t), 'ca.pem');
  writeFileSync(file, root.pem);
  const good = root.sign('Signer', 100);
  const soon = root.sign('Soon', 5);
  const expired = root.sign('Expired', -1);
  const crossed = old.sign('Signer', -1, { keyOf: good });
  const leafOf = (signer: Signed, days = 90): Signed => signer.sign('localhost', days, { isLeaf: true });
  const own = leafOf(good);
  /** Chain, verdict of curl, and the state and words of a watch with a limit of 14 days. */
  const cases: [string, Signed[], boolean, string, RegExp][] = [
    ['good', [own, good], true, 'ok', /^the certificate of localhost:\d+ is valid for (89|90) days, until/],
    [
      'soon',
      [leafOf(soon), soon],
      true,
      'pending',
      / was signed by Soon, whose certificate is valid for [45] days, until/,
    ],
    ['expired', [leafOf(expired), expired], false, 'pending', / was signed by Expired, whose certificate expired on/],
    [
      'own',
      [leafOf(good, 3), good],
      true,
      'pending',
      /^the certificate of localhost:\d+ is valid for [23] days, until/,
    ],
    ['own expired', [leafOf(good, -1), good], false, 'pending', /^the certificate of localhost:\d+ expired on/],
    ['cross-signed', [own, crossed, good], true, 'ok', /^the certificate of localhost:\d+ is valid for (89|90) days/],
    [
      'cross-signed last',
      [own, good, crossed],
      true,
      'ok',
      /^the certificate of localhost:\d+ is valid for (89|90) days/,
    ],
    ['only crossed', [own, crossed], false, 'pending', / was signed by Signer, whose certificate expired on/],
  ];
  for (const [name, [first = own, ...others], isGood, state, words] of cases) {
    const port = await startServer(t, first, ...others);
    assert.equal((await askCurl(port, file)) === 0, isGood, `curl about ${name}`);
    const found = await tryWatch(app, token, { type: 'certificate', host: 'localhost', port, ca: root.pem });
    assert.equal(found[0]?.state, state, `${name}: ${found[0]?.text}`);
    assert.match(found[0]?.text ?? '', words, name);
    const url = `https://localhost:${port}/`;
    const [page, days] = await tryWatch(app, token, { type: 'http', url, certificateDays: 14, ca: root.pem });
    assert.equal(page?.state, isGood ? 'ok' : 'pending', `${name}: ${page?.text}`);
    if (isGood) assert.equal(days?.state, state, `${name}: ${days?.text}`);
  }
});

test('a file with a chain expires with the first certificate of the path that is valid longest', async (t) => {
  const root = createAuthority(t, 'Root');
  const soon = root.sign('Soon', 5);
  const folder = createFolder(t);
  const [chain, alone] = [join(folder, 'chain.pem'), join(folder, 'alone.pem')];
  const own = soon.sign('localhost', 90, { isLeaf: true });
  writeFileSync(chain, own.pem + soon.pem + root.pem);
  writeFileSync(alone, own.pem);
  const watches = [chain, alone].map((path, index) => ({
    name: `w${index}`,
    type: 'certificate',
    path,
    limit: 1,
    every: 1,
  }));
  const app = await startApp(t, { settings: { watches } });
  const token = await app.login('admin');
  for (const { name } of watches) await waitForState(app, token, name, 'ok');
  const textOf = async (name: string) => (await readWatch(app, token, name)).things[0]?.text ?? '';
  assert.match(await textOf('w0'), /was signed by Soon, whose certificate is valid for [45] days/);
  assert.match(await textOf('w1'), /alone\.pem is valid for (89|90) days/);
});

test('a watch can trust the CA of a web site, as text or in a file', async (t) => {
  const root = createAuthority(t, 'Own Root');
  const port = await startServer(t, root.sign('localhost', 90, { isLeaf: true }));
  const caFile = join(createFolder(t), 'ca.pem');
  writeFileSync(caFile, root.pem);
  const watch = { type: 'http', url: `https://localhost:${port}/` };
  const app = await startApp(t, { settings: { watches: [{ ...watch, name: 'filed', caFile, every: 1 }] } });
  const token = await app.login('admin');
  await waitForState(app, token, 'filed', 'ok');
  const [untrusted] = await tryWatch(app, token, watch);
  assert.match(untrusted?.text ?? '', /fails: the server does not send the intermediate certificate, or the CA/);
  assert.equal((await tryWatch(app, token, { ...watch, ca: root.pem }))[0]?.state, 'ok');
  const refuse = async (body: object) =>
    JSON.stringify(
      (await app.request('POST', '/api/watches/test', { token, body: { name: 'a', ...watch, ...body } })).json,
    );
  assert.match(await refuse({ ca: 'none' }), /ca has no certificate in PEM/);
  assert.match(await refuse({ caFile }), /only in the config file/);
  const both = { ...watch, name: 'both', ca: root.pem, caFile };
  assert.match(await startRefusal(t, { settings: { watches: [both] } }), /set either ca or caFile, not both/);
});
