import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { createAccessKey } from '../../src/auth/access.ts';
import { readOperations } from '../repo/support/api.ts';
import { startApp } from '../support/app.ts';
import { createUser, strong } from './support/accounts.ts';

test('no response and no log line contains a secret of users, keys and destinations, or its hash', async (t) => {
  let logged = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk);
      done();
    },
  });
  const configured = createAccessKey('configured', ['alerts:read']);
  const inFile = {
    name: 'file',
    type: 'webhook',
    url: 'http://127.0.0.1:9/planted-file-path',
    token: 'planted-file-token',
  };
  const app = await startApp(t, {
    settings: { keys: [configured.entry], destinations: [inFile] },
    log: pino({ level: 'trace' }, stream),
  });
  const token = await app.login('admin');
  let text = '';
  const call = async (method: string, path: string, body?: object) => {
    const response = await app.request(method, path, { token, body });
    text += `${response.text}\n${JSON.stringify(response.headers)}\n`;
    return response;
  };
  const user = await createUser(app, token, 'ben');
  text += user.text;
  await call('PUT', '/api/users/ben', { role: 'Admin', password: `${strong} again` });
  const created = await app.request<{ key: string }>('POST', '/api/keys', {
    token,
    body: { name: 'made', scopes: ['alerts:read'] },
  });
  const destination = {
    type: 'gotify',
    url: 'http://127.0.0.1:9/planted-path?planted-query',
    secret: 'planted-secret',
    headers: { 'x-a': 'planted-header' },
  };
  await call('PUT', '/api/destinations/made', destination);
  await call('PUT', '/api/destinations/made', { type: 'gotify', concurrency: 2 });
  await call('PUT', '/api/destinations/made', { ...destination, secret: 'planted secret' });
  await call('PUT', '/api/destinations/other', { ...destination, type: 'webhook', token: 'planted-token' });
  await call('POST', '/api/destinations/made/test');
  const watch = { name: 'made', type: 'postgres', host: '127.0.0.1', port: 9, user: 'ben', password: 'planted-watch' };
  await call('POST', '/api/watches', watch);
  await call('PUT', '/api/watches/made', { ...watch, password: 'planted-other' });
  await call('POST', '/api/watches/test', watch);
  await call('GET', '/api/watches/made');
  await app.request('POST', '/api/setup', { body: { code: 'planted-code', name: 'eve', password: strong } });
  await app.request('GET', '/api/alerts', { token: created.json.key });
  for (const [name, { parameters = [] }] of Object.entries(await readOperations(app))) {
    const [method = '', path = ''] = name.split(' ');
    if (method !== 'GET' || path.endsWith('/events') || parameters.some((one) => one.in === 'path')) continue;
    await call(method, path);
  }
  for (const path of ['/api/users/ben', '/api/destinations/made', '/api/destinations/file', '/api/audit?limit=1000']) {
    await call('GET', path);
  }
  await call('DELETE', '/api/destinations/made');
  await call('DELETE', '/api/keys/made');
  await call('DELETE', '/api/users/ben');
  const stored = readFileSync(join(app.folder, 'data', 'settings.jsonl'), 'utf8');
  const hashes = [...stored.matchAll(/\$argon2id[^"]+|[0-9a-f]{64}/g)].map(([hash]) => hash);
  assert.ok(hashes.length >= 3 && stored.includes('planted-secret'));
  assert.ok(!stored.includes(strong) && !stored.includes(created.json.key));
  const secrets = [
    ...hashes,
    configured.entry.sha256,
    configured.key,
    created.json.key,
    strong,
    '$argon2id',
    'planted',
  ];
  for (const secret of secrets) {
    assert.ok(!text.includes(secret), `a response has ${secret}`);
    assert.ok(!logged.includes(secret), `the log has ${secret}`);
  }
  assert.match(text, /"kind":"destination"/);
});
