import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requires } from '../lab/faults/support/requirements.ts';
import { secret } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { createWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const metadata = '169.254.169.254';

test('a check does not reach a forbidden address, also if a name changes its address or a redirect leads there', {
  ...requires({ programs: ['unshare', 'mount'], mounts: true }),
}, async (t) => {
  const hosts = join(createFolder(t), 'hosts');
  const setHosts = (address: string): void => writeFileSync(hosts, `127.0.0.1 localhost\n${address} shop.test\n`);
  setHosts('127.0.0.1');
  // The test changes the file of host names.
  const wrapper = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', hosts];
  const program = await startProgram(t, [], { wrapper, variables: { SIGNALBOX_JWT_SECRET: secret } });
  const token = signToken(createClaims());
  const server = await startReceiver(t, (response) => void response.end('ok'));
  const url = server.url.replace('127.0.0.1', 'shop.test');
  await createWatch(program, token, { name: 'shop', type: 'http', url, every: 1 });
  await waitForState(program, token, 'shop', 'ok');
  setHosts(metadata);
  const [raised] = await waitForAlerts(program, 1);
  assert.equal(raised?.message, 'Watch shop cannot run its check: shop.test is not allowed by watchTargets');
  setHosts('127.0.0.1');
  const [, ended] = await waitForAlerts(program, 2);
  assert.equal(ended?.resolves, raised?.id);
  await program.request('DELETE', '/api/watches/shop', { token });
  // The first lookup of a check finds an allowed address, and the second a forbidden one.
  server.behave((response) => {
    setHosts(metadata);
    response.writeHead(302, { location: `${url}/again` }).end();
  });
  const before = server.requests.length;
  const [thing] = await tryWatch(program, token, { type: 'http', url });
  assert.deepEqual([thing?.state, thing?.text], ['cannot check', 'shop.test is not allowed by watchTargets']);
  assert.equal(server.requests.length, before + 1);
  setHosts('127.0.0.1');
  for (const watch of [
    { type: 'tcp', host: 'shop.test', port: Number(new URL(server.url).port) },
    { type: 'certificate', host: 'shop.test' },
  ]) {
    setHosts(metadata);
    const [one] = await tryWatch(program, token, watch);
    assert.equal(one?.text, 'shop.test is not allowed by watchTargets');
  }
});
