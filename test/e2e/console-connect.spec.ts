import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, type Page } from '@playwright/test';
import { createFolder } from '../support/folder.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const arrival = (page: Page) => page.getByRole('region', { name: '3. Arrival' });
const lines = (page: Page) => page.getByRole('region', { name: '2. Lines to paste' }).locator('pre').first();

const hostDown = {
  version: '4',
  groupKey: '{}:{alertname="HostDown"}',
  status: 'firing',
  receiver: 'signalbox',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://alertmanager.example:9093',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'HostDown', severity: 'critical', instance: 'web-1:9100' },
      annotations: { summary: 'web-1 does not answer' },
      startsAt: '2026-01-31T09:30:00.123Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example:9090/graph',
      fingerprint: 'd8e1c9a1f3b2a047',
    },
  ],
};

/** Checks the lines with amtool, in a new config and in a config that already has a route. */
const checkAlertmanagerConfigs = async (scope: Scope, page: Page): Promise<void> => {
  if (spawnSync('amtool', ['--version']).error) return;
  const shown = page.getByRole('region', { name: '2. Lines to paste' }).locator('pre');
  await expect(shown).toHaveCount(2);
  for (const [index, config] of (await shown.allTextContents()).entries()) {
    const file = join(createFolder(scope), 'alertmanager.yml');
    writeFileSync(file, config);
    const { status, stdout, stderr } = spawnSync('amtool', ['check-config', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining(`${index + 1} receivers`)]);
  }
};

test('Alertmanager is connected with the keyboard alone, and its first alert appears as it arrives', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({ settings: { access: 'login' } });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await logIn(page, 'admin');
  await expect(page.getByText('Alerts from your monitoring, jobs and scripts appear here')).toBeVisible();
  await page.getByRole('link', { name: 'Connect a sender' }).press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Connect' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  const receivers = page.getByRole('region', { name: 'Destinations of notifications' });
  await receivers.getByRole('link', { name: 'Email' }).press('Enter');
  await expect(page.getByRole('dialog', { name: 'New destination' }).getByLabel('Type')).toHaveValue('email');
  await page.goBack();
  await page.getByRole('link', { name: 'Alertmanager', exact: true }).first().press('Enter');
  await expect(lines(page)).toContainText('credentials: KEY');
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  await page.getByRole('button', { name: 'Create a key' }).press('Enter');
  await expect(page.getByText(/^Created the key alertmanager/)).toBeVisible();
  const text = (await lines(page).textContent()) ?? '';
  await checkAlertmanagerConfigs(scope, page);
  const [, url = ''] = /url: (\S+)/.exec(text) ?? [];
  const [, key = ''] = /credentials: (sbk_\S+)/.exec(text) ?? assert.fail(text);
  expect(url).toBe(`${app.url}/api/alert/alertmanager`);
  await expect(page.getByText('127.0.0.1 works on this machine only')).toBeVisible();
  const admin = await app.login('admin');
  // This alert comes from another sender.
  expect((await app.request('POST', '/api/alert/alertmanager', { token: admin, body: hostDown })).status).toBe(200);
  expect((await app.request('POST', new URL(url).pathname, { token: key, body: hostDown })).status).toBe(200);
  await expect(arrival(page).getByText(/^Received .*: HostDown$/)).toBeVisible();
  await expect(arrival(page).getByText('key:alertmanager')).toBeVisible();
  await expect(arrival(page).getByText('alertmanager/HostDown')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await arrival(page).getByRole('link', { name: 'Show alert' }).press('Enter');
  await expect(page.getByRole('dialog').getByText('web-1 does not answer').first()).toBeVisible();

  // A later visit shows the key and its last alert.
  await page.evaluate('location.hash = "#/connect/alertmanager"');
  await expect(page.getByText(/^The key alertmanager exists and was last used .*\.$/)).toBeVisible();
  await expect(arrival(page).getByText(/^Last alert .*: HostDown$/)).toBeVisible();
  await expect(arrival(page).getByText('key:alertmanager')).toBeVisible();
  await expect(arrival(page).getByText('Waiting for the next alert…')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create a key' })).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create another key' }).press('Enter');
  await expect(page.getByText(/^Created the key alertmanager-2/)).toBeVisible();
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  expect(complaints).toEqual([]);
});

/**
 * Runs lines in a shell, with a folder in place of /etc. The variable PATH leads to `signalbox` and to a script with the
 * name in `job`.
 */
const runLines = async (folder: string, lines: string, job: string): Promise<void> => {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = fileURLToPath(new URL('../../dist/signalbox.js', import.meta.url));
  for (const [name, script] of [
    ['signalbox', `exec '${process.execPath}' '${program}' "$@"`],
    ['backup', job],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const text = lines.replaceAll('/etc/', `${folder}/`).replaceAll('/usr/local/bin', bin);
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: folder };
  mkdirSync(join(folder, 'cron.d'), { recursive: true });
  mkdirSync(join(folder, 'systemd', 'system'), { recursive: true });
  await promisify(execFile)('/bin/sh', ['-c', text], { env });
};

test('the lines for curl, cron and systemd fire and resolve an alert of this host, and store the key in a file', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  test.slow();
  const app = await serveApp({ settings: { access: 'login' } });
  const { page } = await openConsole({ app, hash: '#/connect', viewport: { width: 360, height: 740 } });
  await logIn(page, 'admin');
  const token = await app.login('admin');
  const list = async (key: string) => {
    const { json } = await app.request('GET', '/api/alerts/search', { token });
    const found = (json['data'] as Record<string, string>[]).filter(({ sender }) => sender === `key:${key}`);
    return found.map(({ status, hostname: host }) => `${status} ${host}`);
  };
  const [firing, resolved] = [`firing ${hostname()}`, `resolved ${hostname()}`];

  const curl = await readLines(page, 'curl');
  const folder = createFolder(scope);
  // Only the lines for curl, without the command of signalbox.
  const plain = curl.replace('signalbox run --source backup -- /usr/local/bin/backup', '');
  await runLines(folder, plain, 'exit 1');
  await expect(arrival(page).getByText(/^Received .*: The backup has failed$/)).toBeVisible();
  await runLines(folder, plain, 'exit 0');
  expect(await list('curl')).toEqual([resolved, firing]);
  expect(statSync(join(folder, 'signalbox', 'client.env')).mode & 0o077).toBe(0);

  const cron = await readLines(page, 'cron');
  const unit = await readLines(page, 'systemd');
  const runs = {
    cron: [cron, `${folder}/cron.d/backup`, /root (.*)$/m],
    systemd: [unit, `${folder}/systemd/system/backup.service`, /^ExecStart=(.*)$/m],
  } as const;
  for (const [key, [text, file, form]] of Object.entries(runs)) {
    for (const [job, expected] of [
      ['exit 1', [firing]],
      ['exit 0', [resolved, firing]],
    ] as const) {
      await runLines(folder, text, job);
      const [, command = ''] = form.exec(readFileSync(file, 'utf8')) ?? [];
      await runLines(folder, `set -a; . ${folder}/signalbox/client.env; ${command} || true`, job);
      expect(await list(key)).toEqual(expected);
    }
  }
  // Inserts the instance name after parsing quotes, as systemd does for a failed unit.
  const [, send = ''] = /^ExecStart=(signalbox send .*)$/m.exec(unit) ?? [];
  const name = String.raw`srv-my\x2ddata.mount`;
  const command = send.replaceAll('"', "'").replaceAll('%i', name).replace(`--key ${name}`, `--key '${name}'`);
  await runLines(folder, `set -a; . ${folder}/signalbox/client.env; ${command}`, '');
  const { json } = await app.request('GET', '/api/alerts/search?source=systemd', { token });
  expect(json['data']).toMatchObject([{ message: `${name} has failed`, hostname: hostname(), level: 'ERROR' }]);
  for (const text of [curl, cron, unit]) expect(text.replace(/^SIGNALBOX_KEY=.*$/m, '')).not.toContain('sbk_');
});

/** Creates a key for a sender and reads the sender's lines. The page must be logged in. */
const readLines = async (page: Page, sender: string): Promise<string> => {
  await page.evaluate(`location.hash = "#/connect/${sender}"`);
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(new RegExp(`^Created the key ${sender}`))).toBeVisible();
  return (await lines(page).textContent()) ?? '';
};

test('Connect shows a Reader that an Admin can create the key', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/connect/grafana' });
  await logIn(page, 'reader');
  const step = (name: string) => page.getByRole('region', { name, exact: true });
  await expect(step('1. Key').getByText('Ask an Admin for a key')).toBeVisible();
  await expect(step('1. Key').getByRole('button')).toHaveCount(0);
  await expect(step('2. Lines to paste')).toBeVisible();
});

test('the lines for GitHub report a failed workflow with any name', async ({ serveApp, openConsole }) => {
  const app = await serveApp({ settings: { access: 'login' } });
  const { page } = await openConsole({ app, hash: '#/connect' });
  await logIn(page, 'admin');
  const text = await readLines(page, 'github');
  const key = (await page.getByText(/^sbk_/).textContent()) ?? '';
  // Replaces expressions, folds the block after >-, and runs the script with the variables in `env`, as a runner does.
  const values: Record<string, string> = {
    'secrets.SIGNALBOX_KEY': key,
    'github.repository': 'me/app',
    'github.workflow': `Bob's "build" \\ $(exit 1)`,
    'github.server_url': 'https://git.example',
    'github.run_id': '42',
  };
  const evaluate = (expression: string): string => {
    const [, form, names = ''] = /^toJSON\(format\('(.*)', (.*)\)\)$/.exec(expression) ?? [];
    if (form === undefined) return values[expression] ?? assert.fail(expression);
    const parts = names.split(', ').map((name) => values[name] ?? assert.fail(name));
    return JSON.stringify(form.replace(/\{(\d)\}/g, (_, index: number) => parts[index] ?? ''));
  };
  const filled = text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => evaluate(expression));
  const [, ALERT = '', run = ''] = /ALERT: >-\n(.*)\n {2}run: >-\n(.*)$/s.exec(filled) ?? assert.fail(filled);
  const env = { PATH: process.env['PATH'], KEY: key, ALERT: ALERT.replace(/\n/g, ' ') };
  await promisify(execFile)('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], { env });
  await expect(arrival(page).getByText(/^Received .*: Bob's "build" \\ \$\(exit 1\) has failed$/)).toBeVisible();
  await expect(arrival(page).getByText('github/me/app')).toBeVisible();
});

test('with the lines for syslog, rsyslog forwards messages of severity error and above', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const isMissing = spawnSync('rsyslogd', ['-v']).status !== 0;
  test.skip(isMissing && process.env['CI'] !== 'true', 'rsyslog is not installed here');
  const app = await serveApp({ settings: { access: 'login' } });
  const { page } = await openConsole({ app, hash: '#/connect' });
  await logIn(page, 'admin');
  const folder = createFolder(scope);
  const text = (await readLines(page, 'syslog')).replaceAll(/\/usr\/local\/bin|\/etc\/rsyslog\.d/g, folder);
  await promisify(execFile)('/bin/sh', ['-ec', text.replace('systemctl restart rsyslog', '')]);
  // Listens on a socket and includes files, as in Debian's configuration.
  const socket = join(folder, 'log');
  mkdirSync(join(folder, 'work'));
  writeFileSync(
    join(folder, 'main.conf'),
    `global(workDirectory="${folder}/work")
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="${socket}")
include(file="${folder}/signalbox.conf")
`,
  );
  const args = ['-n', '-f', join(folder, 'main.conf'), '-i', join(folder, 'pid')];
  const rsyslog = spawn('rsyslogd', args, { stdio: 'ignore' });
  const ended = once(rsyslog, 'close');
  atEnd(scope, () => rsyslog.kill('SIGKILL') && ended);
  await waitUntil('rsyslog listens', () => existsSync(socket));
  const log = (priority: string, tag: string, message: string | Buffer) =>
    spawnSync('logger', ['-u', socket, '-p', priority, '-t', tag], { input: message });
  log('user.notice', 'quiet', 'not for anybody');
  log('user.err', 'signalbox', 'about itself');
  log('user.crit', 'bytes', Buffer.from([0x62, 0x61, 0x64, 0xff]));
  log('auth.err', 'sshd', String.raw`disk "full" \ ü`);
  await expect(arrival(page).getByText(/^Received /)).toBeVisible();
  const token = await app.login('admin');
  const list = async () =>
    (await app.request<{ data: Record<string, string>[] }>('GET', '/api/alerts', { token })).json.data;
  await waitUntil('both alerts have arrived', async () => (await list()).length === 2);
  expect((await list()).map(({ source, level, message }) => [source, level, message])).toEqual([
    ['bytes', 'crit', 'bad '],
    ['sshd', 'err', String.raw`disk "full" \ ü`],
  ]);
});

test('the lines for PowerShell send an alert with Invoke-RestMethod', async ({ serveApp, openConsole }) => {
  const isMissing = spawnSync('dotnet', ['--version']).status !== 0;
  test.skip(isMissing && process.env['CI'] !== 'true', 'the .NET SDK is not installed here');
  await promisify(execFile)(process.execPath, ['test/power-shell/build.mjs']);
  const app = await serveApp({ settings: { access: 'login' } });
  const { page } = await openConsole({ app, hash: '#/connect' });
  await logIn(page, 'admin');
  const script = await readLines(page, 'powershell');
  const flags = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];
  const running = promisify(execFile)('dist/power-shell/pwsh', flags);
  running.child.stdin?.end();
  expect((await running).stdout).toContain('received=True');
  await expect(arrival(page).getByText(/^Received .*: hello$/)).toBeVisible();
  await expect(arrival(page).getByText('key:powershell')).toBeVisible();
});
