import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';

const password = 'correct horse';

test('refused logins are logged with user and address, never with the password, up to a limit per minute', async (t) => {
  const args = ['--profiles', 'login', '--login-tries-per-address', '0', '--data-dir', createFolder(t)];
  const variables = { SIGNALBOX_ADMIN_PASSWORD: password, SIGNALBOX_READER_PASSWORD: password };
  const { request, stop } = await startProgram(t, args, { variables });
  const logIn = async (Username: string, Password: string) =>
    (await request('POST', '/api/auth/login', { body: { Username, Password } })).status;
  assert.equal(await logIn('admin', password), 200);
  assert.equal(await logIn('admin', 'SECRET-guess'), 401);
  assert.equal(await logIn('SECRET in the wrong field', 'SECRET-guess'), 401);
  for (let count = 0; count < 98; count += 1) assert.equal(await logIn('nobody', 'SECRET-guess'), 401);
  const { stderr } = await stop();
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const refused = lines.filter(({ msg }) => msg === 'login: a login was refused');
  assert.deepEqual(
    refused.slice(0, 2).map(({ level, user, ip, reason }) => [level, user, ip, reason]),
    [
      [40, 'admin', '127.0.0.1', 'Invalid password'],
      [40, undefined, '127.0.0.1', 'Unknown user'],
    ],
  );
  assert.equal(refused.length, 20);
  assert.deepEqual(
    lines.filter(({ suppressed }) => suppressed !== undefined).map(({ suppressed }) => suppressed),
    [80],
  );
  assert.doesNotMatch(stderr, /SECRET|correct horse/);
});
