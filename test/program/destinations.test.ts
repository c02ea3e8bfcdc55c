import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { messagesOf, toDestination, waitForRequests } from '../support/outbox.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

const createConfig = (t: TestContext, destinations: object[]) => {
  const folder = createFolder(t);
  const path = join(folder, 'config.json');
  const write = (next: object[]): void => {
    writeFileSync(path, JSON.stringify({ dataDir: join(folder, 'data'), destinations: next }), { mode: 0o600 });
  };
  write(destinations);
  return { path, write };
};

test('test-destination sends one alert and prints the response without secrets', async (t) => {
  const secret = `whsec_${Buffer.alloc(24, 'x').toString('base64')}`;
  const receiver = await startReceiver(t, (response) => void response.end(`thanks for ${secret}\u0007 at /hook`));
  const { path } = createConfig(t, [toDestination(receiver, { secret })]);
  const { code, stdout, stderr } = await runProgram(['test-destination', 'hook', '--config', path]);
  assert.deepEqual([code, stdout, stderr], [0, 'delivered: 200\nthanks for *** at ***\n', '']);
  assert.deepEqual(messagesOf(receiver), ['This is a test alert.']);
});

test('test-destination fails if the receiver refuses the alert or cannot be reached', async (t) => {
  const receiver = await startReceiver(t, answer(403));
  const { path } = createConfig(t, [toDestination(receiver)]);
  const run = () => runProgram(['test-destination', 'hook', '--config', path]);
  const refused = await run();
  assert.deepEqual([refused.code, refused.stdout], [1, 'not delivered: 403\n']);
  await receiver.close();
  const gone = await run();
  assert.deepEqual([gone.code, gone.stdout], [1, 'not delivered: the connection was refused\n']);
  const unknown = await runProgram(['test-destination', 'other', '--config', path]);
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'signalbox: there is no destination "other"; the settings have: hook\n'],
  );
});

test('SIGHUP takes over changed destinations and sends again to one that responded 410', async (t) => {
  const [first, second] = [await startReceiver(t, answer(410)), await startReceiver(t)];
  const config = createConfig(t, [toDestination(first)]);
  const { child, request, output } = await startProgram(t, ['--profiles', 'alerts', '--config', config.path]);
  const send = (message: string) => request('POST', '/api/alert', { body: { message } });
  await send('1');
  await waitUntil('it is disabled', () => output.stderr.includes('responded 410'));
  first.behave(answer(200));
  config.write([toDestination(first), toDestination(second, { name: 'second' })]);
  child.kill('SIGHUP');
  await waitForRequests(first, 2);
  await waitUntil('the settings are reloaded', () => output.stderr.includes('settings reloaded'));
  await waitUntil('the new destination gets alerts', async () => {
    await send('2');
    return second.requests.length > 0;
  });
  config.write([toDestination(second, { name: 'second', url: 'nowhere' })]);
  child.kill('SIGHUP');
  await waitUntil('they are refused', () => output.stderr.includes('destination \\"second\\": url must begin'));
  await send('3');
  await waitUntil('the old ones stay', () => messagesOf(second).includes('3'));
});
