import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeConfig } from '../support/config-file.ts';
import { sendRaw } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { runCommand, startProgram } from '../support/program.ts';
import { createClaims, createHmacSigner, signToken } from '../support/tokens.ts';

/** Secrets in the settings. Each contains a distinct word, so that parts of secrets are found, too. */
const planted = {
  jwtSecret: 'planted-signing-key-0123456789abcdef',
  jwtPreviousSecret: 'planted-elder-key-0123456789abcdef',
  adminPassword: 'planted-admin-password',
  readerPassword: 'planted-reader-password',
};

/** Password of a client. It must not appear anywhere. */
const guess = 'planted-wrong-password';
const forged = signToken(createClaims({ planted: 'claim' }), { sign: createHmacSigner('x'.repeat(32)) });

const secrets = [...Object.values(planted), guess, forged, 'planted'];

const assertNoSecrets = (text: string, others: readonly string[], what: string): void => {
  for (const secret of [...secrets, ...others]) {
    for (const form of [
      secret,
      Buffer.from(secret).toString('base64').slice(0, -4),
      [...Buffer.from(secret)].join(','),
    ]) {
      assert.equal(text.includes(form), false, `${form} in ${what}`);
    }
  }
};

const readFolder = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');

const start = async (t: TestContext) => {
  const folder = createFolder(t);
  const path = writeConfig(folder, planted);
  const dataDir = join(folder, 'data');
  const { url, request, stop } = await startProgram(t, [
    '--config',
    path,
    '--log-level',
    'trace',
    '--data-dir',
    dataDir,
  ]);
  const answers: string[] = [];
  const send = async (method: string, route: string, token: string, body?: unknown) => {
    const headers = { cookie: `token=${token}`, 'x-password': guess };
    const { status, text, headers: sent } = await request(method, route, { token, headers, body });
    answers.push(`${JSON.stringify(sent)} ${text}`);
    return { status, text };
  };
  return { url, stop, send, answers, dataDir };
};

test('secrets of settings and requests appear in no response, log line, audit record or start message', async (t) => {
  const { url, stop, send, answers, dataDir } = await start(t);
  const credentials = { Username: 'admin', Password: planted.adminPassword };
  const login = await send('POST', '/api/auth/login', forged, credentials);
  const { token } = JSON.parse(login.text) as { token: string };
  // Only the response to the login contains the token.
  answers.length = 0;
  const routes = Object.entries(
    (JSON.parse((await send('GET', '/openapi.json', token)).text) as { paths: Record<string, object> }).paths,
  ).flatMap(([route, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), route] as const));
  for (const [method, route] of routes) {
    const path = `${route.replace('{id}', '1')}?token=${token}&password=${guess}`;
    for (const sent of [forged, `${token}x`, token]) {
      await send(method, path, sent, method === 'GET' ? undefined : {});
      // The whole body of this route is the message of an alert, and messages are shown.
      if (route.endsWith('/plain-text')) continue;
      if (method !== 'GET') await send(method, path, sent, `{"Password": "${guess}" ${guess}`);
    }
  }
  await send('POST', '/api/auth/login', token, { Username: 'admin', Password: guess });
  await send('POST', '/api/auth/login', token, { Username: 'reader', Password: planted.adminPassword });
  await send('POST', '/api/auth/login', token, { Username: guess, Password: guess });
  await send('POST', '/api/auth/login', token, { Username: 1, Password: [guess] });
  await send('POST', '/api/execute', token, { command: 'Get-Process -Name no-such-process-here' });
  await send('POST', '/api/execute', token, { command: 'Get-Process -Id 1', password: guess });
  answers.push(
    await sendRaw(
      url,
      `GET /%zz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    ),
  );
  answers.push(
    await sendRaw(url, `GET / HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nbroken header ${guess}\r\n\r\n`),
  );
  const { stdout, stderr } = await stop();
  assert.ok(answers.length > 60 && stderr.split('\n').length > 60);
  assertNoSecrets(answers.join('\n'), [token], 'an answer');
  assertNoSecrets(stdout, [token], 'the start message');
  assertNoSecrets(stderr, [token], 'the log');
  assertNoSecrets(readFolder(dataDir), [token], 'the data directory');
  assert.doesNotMatch(answers.join('\n') + stdout + stderr + readFolder(dataDir), /\$argon2id/);
});

test('secrets appear neither in the help, the settings schema nor a startup error', async (t) => {
  const path = join(createFolder(t), 'settings.json');
  const variables = { SIGNALBOX_CONFIG: path, SIGNALBOX_JWT_SECRET: planted.jwtSecret };
  const passwordHash = '$argon2id$v=19$m=19456,t=2,p=1$cGxhbnRlZHNhbHQ$planted0hash';
  const user = { name: 'ada', role: 'Admin', passwordHash };
  const files = [
    JSON.stringify({ ...planted, jwtSecret: 'planted', users: [{ ...user, role: 'planted?', more: 'x' }] }),
    JSON.stringify({ ...planted, jwtPreviousSecret: 'planted', users: [user, user] }),
    JSON.stringify({
      jwtSecret: ['planted'],
      adminPassword: { planted: 1 },
      readerPassword: 'planted'.repeat(20),
    }),
    JSON.stringify({
      users: [
        { ...user, passwordHash: 'planted' },
        { ...user, passwordHash: passwordHash.replace('19456', '1') },
      ],
    }),
    `{"jwtSecret": "planted-key" planted}`,
    `{"jwtSecret": planted}`,
  ];
  for (const content of files) {
    writeFileSync(path, content, { mode: 0o600 });
    const bad = [
      ['--profiles', 'A,I', '--port', '70000'],
      ['--profiles', 'A,I,Z'],
    ];
    // These commands print the same output for every file, so one check is enough.
    const asked = content === files[0] ? [['--help'], ['config-schema']] : [];
    for (const args of [...bad, ...asked]) {
      const { stdout, stderr, code } = await runCommand(args, { variables });
      assert.equal(code, bad.includes(args) ? 1 : 0);
      assertNoSecrets(stdout + stderr, ['cGxhbnRlZHNhbHQ'], `${args.join(' ')} with ${content}`);
    }
  }
});
