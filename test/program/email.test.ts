import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeCertificate } from '../support/certificate.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { startMailServer } from '../support/mail-server.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

/**
 * Starts a mail server with a certificate that the program trusts, and writes a config file with a destination for the
 * server.
 */
const startTrusted = async (t: TestContext, scheme: 'smtp' | 'smtps', hasOwnCa = false) => {
  const folder = createFolder(t);
  const { key, cert } = writeCertificate(folder, 'mail');
  const secretFile = join(folder, 'password');
  writeFileSync(secretFile, 'p4ss wörd\n', { mode: 0o600 });
  const isTls = scheme === 'smtps';
  const certificate = { key: readFileSync(key), cert: readFileSync(cert) };
  const passwords = { signalbox: 'p4ss wörd' };
  const server = await startMailServer(t, { ...certificate, secure: isTls, hasStartTls: !isTls, passwords });
  const url = `${scheme}://localhost:${server.port}`;
  const addresses = { from: 'Signalbox <signalbox@example.org>', to: ['anna@example.org'] };
  const login = { user: 'signalbox', secretFile, tls: 'required' };
  const ca = hasOwnCa && { caFile: cert };
  const destinations = [{ name: 'mail', type: 'email', url, ...addresses, ...login, ...ca }];
  const config = writeConfig(folder, { dataDir: join(folder, 'data'), destinations });
  return { server, config, secretFile, variables: { NODE_EXTRA_CA_CERTS: cert } };
};

for (const scheme of ['smtp', 'smtps'] as const) {
  test(`test-destination logs in over TLS and sends a mail with ${scheme}`, async (t) => {
    const { server, config, secretFile, variables } = await startTrusted(t, scheme);
    const run = () => runProgram(['test-destination', 'mail', '--config', config], { variables });
    const { code, stdout, stderr } = await run();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^delivered: 250 /);
    const [mail] = server.mails;
    assert.deepEqual([mail?.user, mail?.isSecure, mail?.text], ['signalbox', true, 'This is a test alert.']);
    writeFileSync(secretFile, 'wr0ng');
    const wrong = await run();
    assert.deepEqual([wrong.code, wrong.stdout], [1, 'not delivered: 535 5.7.8 wrong password\n']);
  });
}

for (const scheme of ['smtp', 'smtps'] as const) {
  test(`caFile makes a mail server with a private CA trusted, with ${scheme}`, async (t) => {
    const { server, config } = await startTrusted(t, scheme, true);
    const { code, stdout, stderr } = await runProgram(['test-destination', 'mail', '--config', config]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^delivered: 250 /);
    assert.equal(server.mails[0]?.isSecure, true);
  });
}

test('a mail server without a trusted certificate gets no mail', async (t) => {
  const { server, config } = await startTrusted(t, 'smtp');
  const { code, stdout } = await runProgram(['test-destination', 'mail', '--config', config]);
  assert.equal(code, 1);
  assert.match(stdout, /^not delivered: TLS with the mail server failed \(/);
  assert.equal(server.mails.length, 0);
});

test('the server sends alerts by mail, and a restart does not send them again', async (t) => {
  const { server, config, variables } = await startTrusted(t, 'smtp');
  const args = ['--profiles', 'alerts', '--config', config];
  const first = await startProgram(t, args, { variables });
  await first.request('POST', '/api/alert', { body: { message: 'disk full', hostname: 'db-1', level: 'ERROR' } });
  await waitUntil('the mail has arrived', () => server.mails.length === 1);
  assert.equal(server.mails[0]?.headers['subject'], 'ERROR disk full on db-1');
  await first.stop();
  const second = await startProgram(t, args, { variables });
  await second.request('POST', '/api/alert', { body: { message: 'no backup' } });
  await waitUntil('the second mail has arrived', () => server.mails.length === 2);
  assert.equal(server.mails[1]?.text, 'no backup');
});
