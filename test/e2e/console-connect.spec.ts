import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, type Page } from '@playwright/test';
import { createFolder } from '../support/folder.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const arrival = (page: Page) => page.getByRole('region', { name: '3. Arrival' });
const lines = (page: Page) => page.getByRole('region', { name: '2. Lines to paste' }).locator('pre');

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

test('with the keyboard alone, Alertmanager gets a key and lines, and its first alert is seen as it comes in', async ({
  startApp,
  openConsole,
}) => {
  const app = await startApp({ settings: { access: 'login' } });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await logIn(page, 'admin');
  await expect(page.getByText('What your monitoring, jobs and scripts report appears here')).toBeVisible();
  await page.getByRole('link', { name: 'Connect a sender' }).press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Connect' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  const receivers = page.getByRole('region', { name: 'Destinations of notifications' });
  await receivers.getByRole('link', { name: 'E-mail' }).press('Enter');
  await expect(page.getByRole('dialog', { name: 'New destination' }).getByLabel('Type')).toHaveValue('email');
  await page.goBack();
  await page.getByRole('link', { name: 'Alertmanager', exact: true }).first().press('Enter');
  await expect(lines(page)).toContainText('credentials: KEY');
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  await page.getByRole('button', { name: 'Create a key' }).press('Enter');
  await expect(page.getByText(/^The key alertmanager has been created/)).toBeVisible();
  const text = (await lines(page).textContent()) ?? '';
  const [, url = ''] = /url: (\S+)/.exec(text) ?? [];
  const [, key = ''] = /credentials: (sbk_\S+)/.exec(text) ?? assert.fail(text);
  expect(url).toBe(`${app.url}/api/alert/alertmanager`);
  await expect(page.getByText('127.0.0.1 is this machine only')).toBeVisible();
  const admin = await app.login('admin');
  // Of another sender.
  expect((await app.request('POST', '/api/alert/alertmanager', { token: admin, body: hostDown })).status).toBe(200);
  expect((await app.request('POST', new URL(url).pathname, { token: key, body: hostDown })).status).toBe(200);
  await expect(arrival(page).getByText(/^Received .*: HostDown$/)).toBeVisible();
  await expect(arrival(page).getByText('key:alertmanager')).toBeVisible();
  await expect(arrival(page).getByText('alertmanager/HostDown')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await arrival(page).getByRole('link', { name: 'Show the alert' }).press('Enter');
  await expect(page.getByRole('dialog').getByText('web-1 does not answer').first()).toBeVisible();

  // A later visit shows the key and its last alert.
  await page.evaluate('location.hash = "#/connect/alertmanager"');
  await expect(page.getByText(/^There is a key alertmanager, last used .*\.$/)).toBeVisible();
  await expect(arrival(page).getByText(/^The last one came .*: HostDown$/)).toBeVisible();
  await expect(arrival(page).getByText('key:alertmanager')).toBeVisible();
  await expect(arrival(page).getByText('Waiting for the next alert…')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create a key' })).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create another key' }).press('Enter');
  await expect(page.getByText(/^The key alertmanager-2 has been created/)).toBeVisible();
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('the lines for curl and cron run in a shell as they are, and a sender without a key is seen too', async ({
  startApp,
  openConsole,
}) => {
  const app = await startApp();
  const { page } = await openConsole({ app, hash: '#/connect/curl', viewport: { width: 360, height: 740 } });
  await logIn(page, 'admin');
  const run = async () => {
    const text = ((await lines(page).textContent()) ?? '').replace('0 2 * * * backup.sh', 'false');
    await promisify(execFile)('/bin/sh', ['-c', text]);
  };
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(/^The key curl has been created/)).toBeVisible();
  await run();
  await expect(arrival(page).getByText(/^Received .*: hello$/)).toBeVisible();
  await page.getByRole('link', { name: 'All senders' }).click();
  await page.getByRole('link', { name: 'cron' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(/^The key cron has been created/)).toBeVisible();
  await run();
  await expect(arrival(page).getByText(/^Received .*: The backup has failed$/)).toBeVisible();
  await page.evaluate('location.hash = "#/connect/powershell"');
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  await sendAlert(app, { message: 'from a script' });
  await expect(arrival(page).getByText(/^Received .*: from a script$/)).toBeVisible();
});

/** The lines for a sender, once it has a key; in a page that is logged in. */
const readLines = async (page: Page, sender: string): Promise<string> => {
  await page.evaluate(`location.hash = "#/connect/${sender}"`);
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(new RegExp(`^The key ${sender} has been created`))).toBeVisible();
  return (await lines(page).textContent()) ?? '';
};

test('the lines for GitHub and systemd send what failed, whatever it is called', async ({ startApp, openConsole }) => {
  const app = await startApp({ settings: { access: 'login' } });
  const { page } = await openConsole({ app, hash: '#/connect' });
  await logIn(page, 'admin');
  const text = await readLines(page, 'github');
  const key = (await page.getByText(/^sbk_/).textContent()) ?? '';
  // As a runner does: it replaces expressions, folds what is below >-, and runs the script with the variables of `env`.
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

  const unit = await readLines(page, 'systemd');
  // As systemd does: backslashes and dollars are doubled in a unit, and units have backslashes in their names.
  const command = unit
    .replace(/^.*ExecStart=/s, '')
    .replaceAll('\\\\', '\\')
    .replaceAll('$$', '$')
    .replaceAll('%i', String.raw`srv-my\x2ddata.mount`)
    .replaceAll('%H', 'web-1');
  await promisify(execFile)('/bin/sh', ['-c', command]);
  await expect(arrival(page).getByText(/^Received .*: srv-my\\x2ddata\.mount has failed$/)).toBeVisible();
  await expect(arrival(page).getByText('web-1')).toBeVisible();
});

test('with the lines for syslog, rsyslog passes on what is an error or worse', async ({
  scope,
  startApp,
  openConsole,
}) => {
  const isMissing = spawnSync('rsyslogd', ['-v']).status !== 0;
  test.skip(isMissing && process.env['CI'] !== 'true', 'rsyslog is not installed here');
  const app = await startApp({ settings: { access: 'login' } });
  const { page } = await openConsole({ app, hash: '#/connect' });
  await logIn(page, 'admin');
  const folder = createFolder(scope);
  const text = (await readLines(page, 'syslog')).replaceAll(/\/usr\/local\/bin|\/etc\/rsyslog\.d/g, folder);
  await promisify(execFile)('/bin/sh', ['-ec', text.replace('systemctl restart rsyslog', '')]);
  // What Debian's own configuration does: it listens to programs, and includes the files of a folder.
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
  await waitUntil('both have come', async () => (await list()).length === 2);
  expect((await list()).map(({ source, level, message }) => [source, level, message])).toEqual([
    ['bytes', 'crit', 'bad '],
    ['sshd', 'err', String.raw`disk "full" \ ü`],
  ]);
});

test('the lines for PowerShell send an alert with its own Invoke-RestMethod', async ({ startApp, openConsole }) => {
  const isMissing = spawnSync('dotnet', ['--version']).status !== 0;
  test.skip(isMissing && process.env['CI'] !== 'true', 'the .NET SDK is not installed here');
  await promisify(execFile)(process.execPath, ['test/power-shell/build.mjs']);
  const app = await startApp({ settings: { access: 'login' } });
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
