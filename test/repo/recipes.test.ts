import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as sendOverTls } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { otherVariables, toVariableName } from '../../src/config/names.ts';
import { type Credentials, createScopeKeys, walkWithLogin } from '../support/access-matrix.ts';
import { secret, settingsSchema } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import type { Request } from '../support/client.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, runCommand, startProgram } from '../support/program.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { waitUntil } from '../support/wait.ts';
import { findSection, readText, toBlocks } from './support/documents.ts';

const run = promisify(execFile);
/** Guides whose lines the tests run. */
const guides = ['backup', 'proxy', 'scripts', 'systemd'].map((name) => readText(`docs/guides/${name}.md`));
const recipes = guides.join('\n');
const findBlock = (title: string, language: string): string =>
  toBlocks(findSection(recipes, title), language)[0] ?? assert.fail(`${title} has no block ${language}`);
const password = 'correct horse';

/** Options for a test that runs other programs. If a program is missing, the test is skipped. */
const needs = (...programs: string[]): { skip: string | false } => {
  const missing = programs.find((program) => spawnSync(program, ['--help']).error);
  return { skip: missing !== undefined && `${missing} is not installed` };
};

test('every JSON block in the guides for operators is a valid config file', async (t) => {
  const folder = createFolder(t);
  writeCertificate(folder, 'box');
  const blocks = toBlocks(recipes, 'json');
  assert.ok(blocks.length >= 2);
  for (const block of blocks) {
    const file = join(folder, 'signalbox.json');
    writeFileSync(file, block.replaceAll('/etc/signalbox', folder), { mode: 0o600 });
    const { code, stderr } = await runCommand(['check-config', file]);
    assert.equal(code, 0, stderr);
  }
});

test('every setting named in the guides for operators exists', () => {
  const keys = [...Object.keys(settingsSchema.properties), 'passwordHash'];

  const named = [...recipes.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, key = '']) => key);
  const variables = [...recipes.matchAll(/\bSIGNALBOX_[A-Z_]+/g)].map(([variable]) => variable);
  assert.ok(named.length > 0 && variables.length > 0);
  assert.deepEqual(
    [
      ...named.filter((key) => !keys.includes(key)),
      ...variables.filter((name) => ![...Object.values(otherVariables), ...keys.map(toVariableName)].includes(name)),
    ],
    [],
  );
});

test('the lines in docs/guides/scripts.md store alerts', needs('sh', 'df'), async (t) => {
  const server = await startProgram(t, []);
  const folder = createFolder(t);
  const [variables = '', lines = ''] = toBlocks(readText('docs/guides/scripts.md'), 'sh');
  const file = join(folder, 'client.env');
  writeFileSync(file, variables.replace('http://127.0.0.1:8080', server.url));
  writeFileSync(join(folder, 'signalbox'), `#!/bin/sh\nexec '${command.join("' '")}' "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env['PATH']}`, XDG_STATE_HOME: join(folder, 'state') };
  const [, entry = ''] = /^PATH=\S+\n[\d* ]+ root (.*)$/.exec(toBlocks(recipes, 'cron').join('').trim()) ?? [];
  const job = entry.replace('/etc/signalbox/client.env', file).replace('/usr/local/bin/backup', 'sh -c "exit 3"');
  await assert.rejects(run('sh', ['-c', job], { env }), { code: 3, stderr: '' });
  const script = `set -a; . '${file}'\n${lines.replace('-lt 95', '-lt 0')}`;
  assert.deepEqual(await run('sh', ['-c', script], { env }), { stdout: '', stderr: '' });
  const { json } = await server.request<{ data: Record<string, string>[] }>('GET', '/api/alerts');
  assert.deepEqual(
    json.data.map(({ source, level }) => [source, level]),
    [
      ['backup', 'ERROR'],
      ['disk', 'WARNING'],
      ['disk', 'INFO'],
      ['db', 'ERROR'],
      ['db', 'INFO'],
    ],
  );
});

test('logrotate accepts the configuration in docs/guides/systemd.md', needs('logrotate'), async (t) => {
  const folder = createFolder(t);
  const log = join(folder, 'signalbox.log');
  writeFileSync(log, 'a line\n');
  const file = join(folder, 'logrotate.conf');
  writeFileSync(file, findBlock('Log to a file', 'logrotate').replace('/var/log/signalbox.log', log), { mode: 0o644 });
  await run('logrotate', ['--force', '--state', join(folder, 'state'), file]);
});

/** Writes the configuration of the proxy and returns its command line. */
type Configure = (folder: string, upstream: string, address: string) => string[];

/** Checks requests through a proxy: the site's own pages, a long list, and the client's address. */
const checkProxy = async (t: TestContext, configure: Configure): Promise<void> => {
  const folder = createFolder(t);
  const settings = JSON.parse(findBlock('nginx', 'json'));
  const config = writeConfig(folder, settings);
  const { url, request, output } = await startProgram(t, ['--config', config, '--log-level', 'debug'], { variables });
  assert.doesNotMatch(output.stdout, /Warning/);
  const credentials = await readCredentials(request);
  const port = await findFreePort();
  const [program = '', ...args] = configure(folder, url.replace('http://', ''), `127.0.0.1:${port}`);
  const proxy = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: folder } });
  const ended = once(proxy, 'close');
  t.after(async () => {
    proxy.kill('SIGTERM');
    await ended;
  });
  const origin = `https://box.example.org:${port}`;
  const client = ['-sSk', '--resolve', `box.example.org:${port}:127.0.0.1`, '--interface', '127.0.0.3'];
  const send = async (path: string, ...flags: string[]): Promise<string> => {
    const headers = [
      `Origin: ${origin}`,
      'X-Forwarded-For: 192.0.2.1',
      `Authorization: Bearer ${credentials.admin}`,
    ].flatMap((header) => ['-H', header]);
    return (await run('curl', [...client, ...headers, ...flags, origin + path], { maxBuffer: 2 ** 25 })).stdout;
  };
  const isReady = (): Promise<boolean> =>
    send('/health').then(
      (text) => text.includes('healthy'),
      () => false,
    );
  await waitUntil('the proxy passes requests on', isReady);
  const body = join(folder, 'body');
  writeFileSync(body, JSON.stringify({ message: 'x'.repeat(1_000_000) }));
  for (let count = 0; count < 10; count++) {
    assert.match(await send('/api/alert', '--data-binary', `@${body}`), /"received":true/);
  }
  assert.equal(JSON.parse(await send('/api/alerts?count=10')).data.length, 10);
  assert.match(output.stderr, /"ip":"127\.0\.0\.3"/);
  assert.doesNotMatch(output.stderr, /"ip":"192\.0\.2\.1"/);
  await checkAccess(t, port, credentials);
};

const { keys, entries } = createScopeKeys();
const variables = { SIGNALBOX_ADMIN_PASSWORD: password, SIGNALBOX_READER_PASSWORD: password };

/** Creates tokens for both roles. Keys are the same behind a proxy, and take most of the time. */
const readCredentials = async (request: Request) => {
  const logIn = async (Username: string): Promise<string> => {
    const body = { Username, Password: password };
    const { json } = await request('POST', '/api/auth/login', { body, headers: { host: 'localhost' } });
    return String(json['token']);
  };
  const [reader, admin] = [await logIn('reader'), await logIn('admin')];
  return { reader, admin, keys: {} };
};

/** Calls every route over TLS without a login, with both roles and with the given keys. */
const checkAccess = async (t: TestContext, port: number, credentials: Credentials): Promise<void> => {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, servername: 'box.example.org' });
  t.after(() => agent.destroy());
  const send = (method: string, path: string, token?: string, body?: object) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const content = body && JSON.stringify(body);
      const headers = {
        host: `box.example.org:${port}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(content !== undefined && { 'content-length': Buffer.byteLength(content) }),
      };
      const sent = sendOverTls({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.once('error', reject);
      sent.end(content);
    });
  const document = JSON.parse((await send('GET', '/openapi.json')).text);
  const admitted = await walkWithLogin(
    async (method, path, token, body) => {
      // The stream of events would not end.
      const isStream = path === '/api/events';
      const { status } = await send(isStream ? 'HEAD' : method, isStream ? `${path}?topics=alerts` : path, token, body);
      return status;
    },
    document,
    credentials,
  );
  t.diagnostic(JSON.stringify(admitted));
  assert.ok((admitted['an Admin'] ?? 0) > 45 && (admitted['nobody'] ?? 0) === 26, JSON.stringify(admitted));
};

test('a server with TLS and no proxy, set up as in docs/guides/proxy.md, admits nobody without a token', async (t) => {
  const folder = createFolder(t);
  writeCertificate(folder, 'box');
  const block = findBlock('TLS without a proxy', 'json').replaceAll('/etc/signalbox', folder);
  const settings = { ...JSON.parse(block), port: 0, allowedHosts: ['box.example.org', 'localhost'], keys: entries };
  const config = writeConfig(folder, settings);
  const { url, output } = await startProgram(t, ['--config', config], {
    variables: { ...variables, SIGNALBOX_JWT_SECRET: secret },
  });
  assert.doesNotMatch(output.stdout, /Warning/);
  const [reader, admin] = (['Reader', 'Admin'] as const).map((role) =>
    signToken(createClaims({ sub: role.toLowerCase(), role })),
  );
  const credentials = { reader: String(reader), admin: String(admin), keys };
  await checkAccess(t, Number(new URL(url).port), credentials);
});

test('nginx, set up as in docs/guides/proxy.md, forwards requests', needs('nginx', 'curl'), async (t) => {
  await checkProxy(t, (folder, upstream, address) => {
    const { cert, key } = writeCertificate(folder, 'box');
    const site = findBlock('nginx', 'nginx')
      .replace('127.0.0.1:8080', upstream)
      .replace('listen 443', `listen ${address}`)
      .replace('/etc/ssl/box.crt', cert)
      .replace('/etc/ssl/box.key', key);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, 'nginx.conf');
    const own = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {}`;
    writeFileSync(file, `${own}\nhttp { access_log off; ${paths.join(' ')}\n${site}}\n`);
    return ['nginx', '-e', join(folder, 'error.log'), '-c', file];
  });
});

test('HAProxy, set up as in docs/guides/proxy.md, forwards requests', needs('haproxy', 'curl'), async (t) => {
  await checkProxy(t, (folder, upstream, address) => {
    const { cert, key } = writeCertificate(folder, 'box');
    const pem = join(folder, 'box.pem');
    writeFileSync(pem, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
    const file = join(folder, 'haproxy.cfg');
    const site = findBlock('HAProxy', 'haproxy')
      .replace('127.0.0.1:8080', upstream)
      .replace('bind :443', `bind ${address}`)
      .replace('/etc/ssl/box.pem', pem);
    writeFileSync(file, `global\n  maxconn 100\n\n${site}`);
    return ['haproxy', '-f', file];
  });
});

test('Apache, set up as in docs/guides/proxy.md, forwards requests', needs('apache2', 'curl'), async (t) => {
  await checkProxy(t, (folder, upstream, address) => {
    const { cert, key } = writeCertificate(folder, 'box');
    const site = findBlock('Apache', 'apache')
      .replace('127.0.0.1:8080', upstream)
      .replace('*:443', address)
      .replace('/etc/ssl/box.crt', cert)
      .replace('/etc/ssl/box.key', key);
    const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'ssl', 'socache_shmcb'].map(
      (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
    );
    const own = [
      ...modules,
      `Listen ${address}`,
      `PidFile ${folder}/pid`,
      `ErrorLog ${folder}/error.log`,
      'ServerName box',
    ];
    const file = join(folder, 'apache.conf');
    writeFileSync(file, `${own.join('\n')}\nDefaultRuntimeDir ${folder}\nUser daemon\nGroup daemon\n${site}`);
    return ['apache2', '-D', 'FOREGROUND', '-f', file];
  });
});

test('Caddy, set up as in docs/guides/proxy.md, forwards requests', needs('caddy', 'curl'), async (t) => {
  await checkProxy(t, (folder, upstream, address) => {
    const [host, port] = address.split(':');
    const options = ['admin off', 'local_certs', 'skip_install_trust', 'auto_https disable_redirects'];
    const own = [...options, `default_bind ${host}`, `https_port ${port}`, `storage file_system ${folder}`];
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n${own.join('\n')}\n}\n${findBlock('Caddy', 'caddy').replace('127.0.0.1:8080', upstream)}`);
    return ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'];
  });
});
