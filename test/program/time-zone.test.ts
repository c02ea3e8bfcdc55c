import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeConfig } from '../support/config-file.ts';
import { passwords } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntilPasses } from '../support/wait.ts';

test('texts for people have times in the zone of the server, and fields keep RFC 3339', async (t) => {
  const folder = createFolder(t);
  const receiver = await startReceiver(t);
  const config = writeConfig(folder, {
    dataDir: join(folder, 'data'),
    timeZone: 'Asia/Kolkata',
    adminPassword: passwords.admin,
    destinations: [{ name: 'hook', type: 'webhook', url: receiver.url, notify: 'incidents', groupSeconds: 0 }],
  });
  const { request } = await startProgram(t, ['--config', config, '--port', '0']);
  const body = { Username: 'admin', Password: passwords.admin };
  const { json: login } = await request('POST', '/api/auth/login', { body });
  const token = String(login['token']);
  await request('POST', '/api/alert', { body: { source: 'disk', level: 'ERROR', message: 'full' } });
  await waitUntilPasses(async () => {
    const { status } = await request('POST', '/api/incidents/1/task', { token });
    assert.equal(status, 201);
  });
  const { json: task } = await request('GET', '/api/tasks/1', { token });
  assert.match(String(task['Description']), /^Since \d{4}-\d\d-\d\d \d\d:\d\d \+05:30$/m);
  const { text: report } = await request('GET', '/api/incidents/1/report', { token });
  assert.match(report, /^\|First alert\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:30\|$/m);
  assert.match(report, /^- \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:30 \*\*opened\*\*/m);
  assert.doesNotMatch(report, /\dT\d|\dZ/);
  await waitUntilPasses(async () => assert.ok(receiver.requests.length > 0));
  const sent = JSON.parse(receiver.requests[0]?.body ?? '') as { timestamp: string; data: { body: string } };
  assert.match(sent.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/);
  assert.match(JSON.stringify(sent.data), /since \d{4}-\d\d-\d\d \d\d:\d\d \+05:30/);
  const { json: incident } = await request('GET', '/api/incidents/1', { token });
  assert.match(String(incident['firstAt']), /^\d{4}-\d\d-\d\dT.*Z$/);
});
