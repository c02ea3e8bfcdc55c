import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand, startProgram } from '../support/program.ts';

const password = 'correct horse';
const passwords = { SIGNALBOX_ADMIN_PASSWORD: password, SIGNALBOX_READER_PASSWORD: password };

test('a setting under its former name works as flag, variable and key of the file, with a warning', async (t) => {
  for (const [given, issuer, warning] of [
    [{ flags: { issuer: 'a flag' } }, 'a flag', /^--issuer is now called --jwt-issuer: use the new name$/],
    [
      { variables: { SIGNALBOX_ISSUER: 'a variable' } },
      'a variable',
      /^SIGNALBOX_ISSUER is now called SIGNALBOX_JWT_ISSUER: use the new name$/,
    ],
    [{ settings: { issuer: 'a file' } }, 'a file', /^issuer in \S+ is now called jwtIssuer: use the new name$/],
  ] as const) {
    const { login, warnings } = await startApp(t, given);
    const claims = JSON.parse(Buffer.from((await login('admin')).split('.')[1] ?? '', 'base64url').toString());
    assert.equal(claims.iss, issuer);
    assert.ok(
      warnings.some((each) => warning.test(each)),
      warnings.join('\n'),
    );
  }
});

test('a flag under the former name overrides a variable under the current one', async (t) => {
  const variables = { ...passwords, SIGNALBOX_JWT_ISSUER: 'a variable' };
  const { request } = await startProgram(t, ['--profiles', 'login', '--issuer', 'a flag'], { variables });
  const { json } = await request('POST', '/api/auth/login', { body: { Username: 'admin', Password: password } });
  assert.match(Buffer.from(String(json['token']).split('.')[1] ?? '', 'base64url').toString(), /"iss":"a flag"/);
});

test('a setting under both names in one place is refused', async (t) => {
  const config = writeConfig(createFolder(t), { issuer: 'x', jwtIssuer: 'y' });
  assert.equal(
    await refusal(['--config', config], 1),
    `issuer in ${config} is the former name of jwtIssuer, which is also set: remove issuer`,
  );
});

test('a former name is not reported as an unknown variable when another setting is unusable', async () => {
  const text = await refusal(['--profiles', 'login,alerts', '--data-dir', '/dev/null/x'], 1, {
    ...passwords,
    SIGNALBOX_ISSUER: 'x',
  });
  assert.doesNotMatch(text, /SIGNALBOX_ISSUER/);
});

test('the config schema marks former names as deprecated', async () => {
  const { properties } = JSON.parse((await runCommand(['config-schema'])).stdout);
  assert.deepEqual([properties.issuer.deprecated, properties.issuer.type], [true, 'string']);
});

test('a former value works as flag, variable and in the file, with a warning', async (t) => {
  for (const [given, warning] of [
    [{ flags: { access: 'contract' } }, /^--access: contract is now called open: use the new value$/],
    [
      { variables: { SIGNALBOX_ACCESS: 'contract' } },
      /^SIGNALBOX_ACCESS: contract is now called open: use the new value$/,
    ],
    [{ settings: { access: 'contract' } }, /^access in \S+: contract is now called open: use the new value$/],
  ] as const) {
    const { request, warnings } = await startApp(t, given);
    assert.equal((await request('GET', '/api/tasks')).status, 200);
    assert.ok(
      warnings.some((each) => warning.test(each)),
      warnings.join('\n'),
    );
  }
});
