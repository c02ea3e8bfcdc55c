import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { writeCertificate } from '../support/certificate.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { startAgent } from './support/agent.ts';

test('an agent with --ca reports and forwards alerts over HTTPS only to hubs with a certificate of that authority', async (t) => {
  const folder = createFolder(t);
  const { cert, key: tlsKey, pem } = writeCertificate(folder, 'hub');
  const host = createAccessKey('web-1', ['hosts:report']);
  const reader = createAccessKey('reader', ['alerts:read', 'incidents:read']);
  const settings = { keys: [host.entry, reader.entry], tlsCert: cert, tlsKey, dataDir: join(folder, 'hub') };
  const { url } = await startProgram(t, ['--config', writeConfig(folder, settings)]);
  const keyFile = join(folder, 'web-1.key');
  writeFileSync(keyFile, host.key, { mode: 0o600 });
  const words = ['agent', '--hub', url, '--key-file', keyFile];
  const ask = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${reader.key}` };
      get(`${url}${path}`, { ca: pem, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(text));
      }).on('error', reject);
    });
  const stranger = await startAgent(t, words);
  await waitUntil('the certificate is refused', () =>
    stranger.output.stderr.includes('was not signed by a trusted CA'),
  );
  assert.equal(JSON.parse(await ask('/api/hosts')).count, 0);
  const agent = await startAgent(t, [...words, '--ca', cert]);
  await waitUntil('the hub has a report', async () => (await ask('/api/hosts/web-1')).includes('"state":"up"'));
  const id = await agent.send('over TLS');
  await waitUntil('the hub has the alert', async () => (await ask('/api/alerts/search')).includes(id));
});
