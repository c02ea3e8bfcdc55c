import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { messagesOf, toDestination, waitForRequests } from '../support/outbox.ts';
import { runCommand, startProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

const createConfig = (t: TestContext, destinations: object[]) => {
  const folder = createFolder(t);
  const write = (next: object[]): string => writeConfig(folder, { dataDir: join(folder, 'data'), destinations: next });
  return { path: write(destinations), write };
};

test('test-destination sends one alert and prints the response without secrets', async (t) => {
  const secret = `whsec_${Buffer.alloc(24, 'x').toString('base64')}`;
  const receiver = await startReceiver(t, (response) => void response.end(`thanks for ${secret}\u0007 at /hook`));
  const { path } = createConfig(t, [toDestination(receiver, { secret })]);
  const { code, stdout, stderr } = await runCommand(['test-destination', 'hook', '--config', path]);
  assert.deepEqual([code, stdout, stderr], [0, 'delivered: 200\nthanks for *** at ***\n', '']);
  assert.deepEqual(messagesOf(receiver), ['This is a test alert.']);
});

test('test-destination fails if the receiver refuses the alert or cannot be reached', async (t) => {
  const receiver = await startReceiver(t, answer(403));
  const { path } = createConfig(t, [toDestination(receiver)]);
  const run = () => runCommand(['test-destination', 'hook', '--config', path]);
  const refused = await run();
  assert.deepEqual([refused.code, refused.stdout], [1, 'not delivered: 403\n']);
  await receiver.close();
  const gone = await run();
  assert.deepEqual([gone.code, gone.stdout], [1, 'not delivered: the connection was refused\n']);
  const unknown = await runCommand(['test-destination', 'other', '--config', path]);
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'signalbox: there is no destination "other"; the settings define: hook\n'],
  );
});

test('test-destination fills in a template', async (t) => {
  const receiver = await startReceiver(t);
  const headers = { 'X-Key': 'k3y' };
  const body = '{"text": "{level} {title}: {message}"}';
  const { path } = createConfig(t, [{ name: 'chat', type: 'template', url: `${receiver.url}/x`, body, headers }]);
  const { code, stdout } = await runCommand(['test-destination', 'chat', '--config', path]);
  assert.deepEqual([code, stdout], [0, 'delivered: 200\n']);
  const [request] = receiver.requests;
  assert.match(JSON.parse(request?.body ?? '').text, /^INFO INFO signalbox on .+: This is a test alert\.$/);
  assert.equal(request?.headers['x-key'], 'k3y');
});

test('SIGHUP applies changed destinations and retries a failing one immediately', async (t) => {
  const [first, second] = [await startReceiver(t, answer(410)), await startReceiver(t)];
  const { retrySeconds: _, ...usual } = toDestination(first);
  const config = createConfig(t, [usual]);
  const { child, request, output } = await startProgram(t, ['--profiles', 'alerts', '--config', config.path]);
  const send = (message: string) => request('POST', '/api/alert', { body: { message } });
  await send('1');
  await waitUntil('the destination is failing', () => output.stderr.includes('the destination is failing'));
  assert.match(output.stderr, /"destination":"hook","reason":"the receiver responded 410"/);
  first.behave(answer(200));
  config.write([usual, toDestination(second, { name: 'second' })]);
  child.kill('SIGHUP');
  await waitForRequests(first, 2);
  await waitUntil('the settings are reloaded', () => output.stderr.includes('settings reloaded'));
  await waitUntil('the new destination gets alerts', async () => {
    await send('2');
    return second.requests.length > 0;
  });
  config.write([toDestination(second, { name: 'second', url: 'nowhere' })]);
  child.kill('SIGHUP');
  await waitUntil('the changed destinations are refused', () =>
    output.stderr.includes('destination \\"second\\": url must begin'),
  );
  await send('3');
  await waitUntil('the old settings stay', () => messagesOf(second).includes('3'));
});

test('a second signalbox that requires a key is a receiver, with the key from a file or a variable', async (t) => {
  const folder = createFolder(t);
  const { key, entry } = createAccessKey('first', ['alerts:write', 'alerts:read']);
  const tokenFile = join(folder, 'key');
  writeFileSync(tokenFile, `${key}\n`, { mode: 0o600 });
  const settings = { access: 'login', keys: [entry] };
  const second = await startApp(t, { settings });
  const to = { type: 'webhook', url: `${second.url}/api/alert` };
  const destinations = [
    { ...to, name: 'by-token', tokenFile },
    { ...to, name: 'by-header', headers: { Authorization: { variable: 'KEY_OF_SECOND' } } },
  ];
  const config = writeConfig(folder, { dataDir: join(folder, 'first'), destinations }, 'first.json');
  const variables = { KEY_OF_SECOND: `Bearer ${key}` };
  const first = await startProgram(t, ['--config', config], { variables });
  const { status } = await first.request('POST', '/api/alert', { body: { level: 'ERROR', message: 'forwarded' } });
  assert.equal(status, 200);
  const list = () => second.request<{ data: { message: string }[] }>('GET', '/api/alerts', { token: key });
  // Both requests have the alert's id as their Idempotency-Key.
  await waitUntil('the alert has arrived', async () => (await list()).json.data.length === 1);
  const tested = await runCommand(['test-destination', 'by-header', '--config', config], { variables });
  assert.match(tested.stdout, /^delivered: 200\n/);
  assert.deepEqual(
    (await list()).json.data.map(({ message }) => message),
    ['forwarded', 'This is a test alert.'],
  );
  assert.ok(!first.output.stderr.includes(key));
});

test('after kill -9 and a start the alerts are sent immediately, the newest critical one first', async (t) => {
  const receiver = await startReceiver(t);
  const port = Number(new URL(receiver.url).port);
  await receiver.close();
  const { retrySeconds: _, ...usual } = toDestination(receiver);
  const config = createConfig(t, [usual]);
  const args = ['--profiles', 'alerts', '--config', config.path];
  const first = await startProgram(t, args);
  const send = (level: string, message: string) =>
    first.request('POST', '/api/alert', { body: { level, message } }).then(({ status }) => assert.equal(status, 200));
  await send('ERROR', 'old');
  await waitUntil('the delivery has failed', () => first.output.stderr.includes('an alert was not delivered'));
  await send('CRITICAL', 'critical');
  await send('CRITICAL', 'newest');
  await first.stop('SIGKILL');
  const again = await startReceiver(t, answer(200), port);
  const begun = performance.now();
  await startProgram(t, args);
  await waitForRequests(again, 3);
  assert.ok(performance.now() - begun < 10_000);
  assert.deepEqual(messagesOf(again), ['newest', 'critical', 'old']);
});
