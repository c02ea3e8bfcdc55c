import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { otherVariables, toVariableName } from '../../src/config/names.ts';
import { waitUntil } from '../faults/support/wait.ts';
import { settingsSchema } from '../support/app.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { command, runProgram, startProgram } from '../support/program.ts';
import { findSection, readText, toBlocks } from './support/documents.ts';

const run = promisify(execFile);
const recipes = readText('docs/recipes.md');
const findBlock = (title: string, language: string): string =>
  toBlocks(findSection(recipes, title), language)[0] ?? assert.fail(`${title} has no block ${language}`);
const password = 'correct horse';

/** Options for a test that runs other programs: it is skipped where one is missing. */
const needs = (...programs: string[]): { skip: string | false } => {
  const missing = programs.find((program) => spawnSync(program, ['--help']).error);
  return { skip: missing !== undefined && `${missing} is not installed` };
};

test('every JSON block in docs/recipes.md is a valid config file', async (t) => {
  const folder = createFolder(t);
  writeCertificate(folder, 'box');
  const blocks = toBlocks(recipes, 'json');
  assert.ok(blocks.length >= 2);
  for (const block of blocks) {
    const file = join(folder, 'signalbox.json');
    writeFileSync(file, block.replaceAll('/etc/signalbox', folder), { mode: 0o600 });
    const { code, stderr } = await runProgram(['check-config', file]);
    assert.equal(code, 0, stderr);
  }
});

test('every setting that docs/recipes.md names exists', () => {
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

test(
  'the curl lines in docs/recipes.md succeed, and PowerShell calls the same routes',
  needs('bash', 'curl'),
  async (t) => {
    const { url } = await startProgram(t, [], { variables: { SIGNALBOX_ADMIN_PASSWORD: password } });
    const lines = findBlock('curl and PowerShell', 'sh');
    const script = `curl() { command curl -sS --fail-with-body "$@"; }\n${lines.replace('http://localhost:8080', url)}`;
    const env = { PATH: process.env['PATH'], PASSWORD: password };
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { env });
    assert.match(stdout, /"received":true.*"disk is full".*"Write the report".*"result":/s);
    const listPaths = (text: string): string[] => [...text.matchAll(/\/api\/[^\s")]+/g)].map(([path]) => path);
    assert.deepEqual(listPaths(findBlock('curl and PowerShell', 'powershell')), listPaths(lines));
  },
);

test('the lines for cron and scripts in docs/recipes.md store alerts', needs('sh', 'df'), async (t) => {
  const server = await startProgram(t, []);
  const folder = createFolder(t);
  const [variables = '', lines = ''] = toBlocks(findSection(recipes, 'Cron and backups'), 'sh');
  const file = join(folder, 'client.env');
  writeFileSync(file, variables.replace('http://127.0.0.1:8080', server.url));
  writeFileSync(join(folder, 'signalbox'), `#!/bin/sh\nexec '${command.join("' '")}' "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env['PATH']}` };
  const [, entry = ''] = /^PATH=\S+\n[\d* ]+ root (.*)$/.exec(findBlock('Cron and backups', 'cron').trim()) ?? [];
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
    ],
  );
});

test('logrotate accepts the file in docs/recipes.md', needs('logrotate'), async (t) => {
  const folder = createFolder(t);
  const log = join(folder, 'signalbox.log');
  writeFileSync(log, 'a line\n');
  const file = join(folder, 'logrotate.conf');
  writeFileSync(file, findBlock('Logs', 'logrotate').replace('/var/log/signalbox.log', log), { mode: 0o644 });
  await run('logrotate', ['--force', '--state', join(folder, 'state'), file]);
});

/** Writes the proxy's configuration; returns its command line. */
type Configure = (folder: string, upstream: string, address: string) => string[];

/** Requests of the site's own pages through a proxy, a long list, and the client's address. */
const checkProxy = async (t: TestContext, configure: Configure): Promise<void> => {
  const folder = createFolder(t);
  const config = join(folder, 'signalbox.json');
  writeFileSync(config, findBlock('nginx', 'json'), { mode: 0o600 });
  const { url, output } = await startProgram(t, ['--config', config, '--log-level', 'debug']);
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
    const headers = ['-H', `Origin: ${origin}`, '-H', 'X-Forwarded-For: 192.0.2.1'];
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
};

test('nginx passes requests on as docs/recipes.md says', needs('nginx', 'curl'), async (t) => {
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

test('Caddy passes requests on as docs/recipes.md says', needs('caddy', 'curl'), async (t) => {
  await checkProxy(t, (folder, upstream, address) => {
    const [host, port] = address.split(':');
    const options = ['admin off', 'local_certs', 'skip_install_trust', 'auto_https disable_redirects'];
    const own = [...options, `default_bind ${host}`, `https_port ${port}`, `storage file_system ${folder}`];
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n${own.join('\n')}\n}\n${findBlock('Caddy', 'caddy').replace('127.0.0.1:8080', upstream)}`);
    return ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'];
  });
});
