import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { Incident } from '../../../src/features/incidents/schema.ts';
import { packageRoot } from '../../../src/server/package-info.ts';
import { createId, toLineStart, toRecordLine } from '../../../src/storage/journal/line.ts';
import { createFolder } from '../../support/folder.ts';
import { runProgram } from '../../support/program.ts';
import { waitUntil } from '../../support/wait.ts';
import { assertShows, readExpected, variables } from '../../upgrade/support/fixture.ts';
import { requires } from '../faults/support/requirements.ts';
import { build, findObstacle } from '../package/build.ts';
import { bootMachine } from './support/machine.ts';
import { buildReleased, findMissingHistory } from './support/released.ts';

const programs = ['systemd-nspawn', 'nsenter', 'curl', 'dpkg-deb', 'deb-systemd-helper', 'adduser', 'setpriv'];
const skip = requires({ programs, mounts: true }).skip || findObstacle();

/** Fast compression, because the tests do not keep the package. */
const compression = { DPKG_DEB_COMPRESSOR_TYPE: 'gzip', DPKG_DEB_COMPRESSOR_LEVEL: '1' };

const folder = createFolder({ after });

// The package is built while this file is being loaded, because tests have a shorter time limit.
if (!skip) {
  for (const release of ['0.0.1', '99.0.0'])
    await build('deb', ['--folder', folder, '--release', release], compression);
  if (!findMissingHistory()) {
    mkdirSync(join(folder, 'released'));
    const released = await buildReleased({ after }, compression);
    cpSync(released, join(folder, 'released', 'signalbox_1.0.0_amd64.deb'));
  }
}

test('lintian reports no errors', { skip: skip || requires({ programs: ['lintian'] }).skip }, () => {
  const deb = join(folder, 'signalbox_99.0.0_amd64.deb');
  execFileSync('lintian', ['--allow-root', '--fail-on', 'error', deb], { stdio: 'pipe' });
});

const fixture = 'data-1.0.0';
const key = `sbk_${'k'.repeat(43)}`;
const Password = 'of the users of 1.0.0';
const alert = { source: 'nightly', level: 'ERROR', message: 'no backup', hostname: 'web-1' };

/**
 * Writes data of 1.0.0 into a folder, with one more alert from two days ago, a config file with users and a key, and a
 * file of variables. Returns the config.
 */
const writeReleased = async (left: string): Promise<string> => {
  cpSync(join(packageRoot, 'test', 'fixtures', fixture, 'data'), join(left, 'data'), { recursive: true });
  const at = Date.now() - 48 * 60 * 60 * 1000;
  const time = new Date(at).toISOString();
  const times = { timestamp: time.slice(0, 19), receivedAt: time.slice(11, 19), time: time.replace('Z', '+00:00') };
  const line = toRecordLine(toLineStart({ ...alert, ...times }, createId(at)), 12);
  appendFileSync(join(left, 'data', 'alerts.jsonl'), line);
  const { stdout } = await runProgram(['hash-password'], { input: Password });
  const passwordHash = stdout.trim();
  const config = JSON.stringify({
    host: '127.0.0.1',
    port: 8080,
    store: 'file',
    timeZone: 'UTC',
    alertsAuth: 'bearer',
    users: [
      { name: 'ada', role: 'Admin', passwordHash },
      { name: 'bob', role: 'Reader', passwordHash },
    ],
    keys: [{ name: 'sender', sha256: createHash('sha256').update(key).digest('hex'), scopes: ['alerts:write'] }],
  });
  writeFileSync(join(left, 'config.json'), `${config}\n`);
  writeFileSync(join(left, 'secrets.env'), `SIGNALBOX_JWT_SECRET=${variables.SIGNALBOX_JWT_SECRET}\n`);
  return config;
};

/** Boots a machine on which both releases can be installed. */
const boot = async (t: TestContext) => {
  const run = await bootMachine(t, { withService: false, installs: true, files: folder });
  /** Runs a script and returns its output. The script must end with the exit code. */
  const sh = (script: string, code = 0): string => {
    const output = run('sh', '-c', `{ ${script}\n} 2>&1; echo "exit code $?"`);
    assert.match(output, new RegExp(`exit code ${code}\n$`), output);
    return output;
  };
  const ask = (path: string, ...args: string[]): string =>
    run('curl', '-sS', '--retry', '10', '--retry-delay', '1', '--retry-connrefused', `localhost:8080${path}`, ...args);
  const readPid = (): string => run('systemctl', 'show', '--value', '-p', 'MainPID', 'signalbox').trim();
  const install = (release: string, code = 0): string =>
    sh(`dpkg --install --force-confold /packages/${release.replace(/^\d/, 'signalbox_$&')}_amd64.deb`, code);
  /** Logs in with the password of the first start. Returns the token as a flag for curl. */
  const logIn = (): string[] => {
    const { adminPassword } = JSON.parse(run('cat', '/var/lib/signalbox/secrets.json'));
    const credentials = JSON.stringify({ Username: 'admin', Password: adminPassword });
    const { token } = JSON.parse(ask('/api/auth/login', '-d', credentials));
    return ['-H', `Authorization: Bearer ${token}`];
  };
  // This file prevents services from starting on a machine.
  sh('rm -f /usr/sbin/policy-rc.d');
  return { run, sh, ask, readPid, install, logIn };
};

test('the Debian package installs, upgrades with its data, survives a failed upgrade, and is purged', {
  skip,
}, async (t) => {
  const { run, sh, ask, readPid, install, logIn } = await boot(t);
  assert.match(install('0.0.1'), /passwords for \S+ are in \/var\/lib\/signalbox\/secrets\.json\n/);
  assert.match(ask('/health'), /"status":"healthy"/);
  assert.equal(run('systemctl', 'is-enabled', 'signalbox').trim(), 'enabled');
  assert.equal(sh('stat -c "%U %G %a" /etc/signalbox/config.json'), 'root signalbox 640\nexit code 0\n');
  assert.equal(sh('stat -c "%U %G %a" /var/lib/signalbox'), 'signalbox signalbox 700\nexit code 0\n');
  assert.match(sh('signalbox --version'), /^\d/);
  assert.equal(sh('stat -c "%U %a" /var/lib/signalbox/secrets.json'), 'signalbox 600\nexit code 0\n');
  const { adminPassword } = JSON.parse(run('cat', '/var/lib/signalbox/secrets.json'));
  assert.doesNotMatch(sh('journalctl -u signalbox'), new RegExp(adminPassword));
  const bearer = logIn();
  assert.match(ask('/api/tasks'), /"error":"Missing token"/);
  assert.match(ask('/api/alert', '-d', '{"message":"before the upgrade"}', ...bearer), /"received":true/);
  assert.match(ask('/api/tasks', '-d', '{"Title":"kept in files"}', ...bearer), /"Id":1/);

  const first = readPid();
  install('99.0.0');
  assert.match(ask('/api/alerts', ...bearer), /before the upgrade/);
  assert.notEqual(readPid(), first);
  assert.match(ask('/api/tasks', ...bearer), /kept in files/);
  assert.match(ask('/api/items', ...bearer), /"total":0/);
  assert.equal(JSON.parse(run('cat', '/var/lib/signalbox/secrets.json')).adminPassword, adminPassword);

  const second = readPid();
  sh(`cp -a /etc/signalbox/config.json /tmp/kept && echo '{"prot": 1}' > /etc/signalbox/config.json`);
  assert.match(install('0.0.1', 1), /refuses the settings in \/etc\/signalbox, so the server was not restarted/);
  assert.match(ask('/api/alerts', ...bearer), /before the upgrade/);
  assert.equal(readPid(), second);
  sh('cp -a /tmp/kept /etc/signalbox/config.json && dpkg --configure signalbox');
  assert.match(ask('/api/alerts', ...bearer), /before the upgrade/);
  assert.notEqual(readPid(), second);

  // One secret requires the other, and the other is only in the file of secrets.
  sh(`echo '{"jwtPreviousSecret": "${'p'.repeat(32)}"}' > /etc/signalbox/config.json`);
  assert.match(install('99.0.0', 1), /jwtPreviousSecret has no effect without jwtSecret/);
  const lines = ['# a comment', '', 'not a variable', `SIGNALBOX_JWT_SECRET="${'s'.repeat(31)} $HOME"`];
  sh(`umask 077 && cat > /etc/signalbox/secrets.env <<'END'\n${lines.join('\n')}\nEND`);
  sh('dpkg --configure signalbox');
  assert.match(ask('/api/alerts', ...bearer), /before the upgrade/);
  sh('echo SIGNALBOX_PORT=none >> /etc/signalbox/secrets.env');
  assert.match(install('0.0.1', 1), /SIGNALBOX_PORT/);
  sh(`sed -i '/^SIGNALBOX_PORT/d' /etc/signalbox/secrets.env && dpkg --configure signalbox`);

  sh('dpkg --remove signalbox');
  await waitUntil('the server has stopped', () => run('pgrep', '-x', 'signalbox') === '');
  sh('test -f /etc/signalbox/config.json && test -d /var/lib/signalbox && ! test -e /usr/bin/signalbox');
  sh('dpkg --purge signalbox');
  sh('! test -e /etc/signalbox && ! test -e /var/lib/signalbox && ! getent passwd signalbox');
});

test('an upgrade to a version that cannot start fails with advice; a first installation does not fail', {
  skip,
}, async (t) => {
  const { run, sh, ask, install } = await boot(t);
  const takePort = (): string =>
    sh(`systemd-run --quiet --unit taker /srv/node -e 'require("net").createServer().listen(8080, "127.0.0.1")'
      until curl -s --max-time 1 localhost:8080; [ $? != 7 ]; do sleep 0.1; done`);
  const freePort = (): string => sh('systemctl stop taker');
  const isActive = (): string => run('systemctl', 'is-active', 'signalbox').trim();

  takePort();
  install('0.0.1');
  freePort();
  sh('systemctl reset-failed signalbox; systemctl start signalbox');
  assert.match(ask('/health'), /"status":"healthy"/);

  sh('systemctl stop signalbox');
  takePort();
  assert.match(
    install('99.0.0', 1),
    /\nsignalbox: this version does not run; journalctl -u signalbox says why\. .*dpkg --configure signalbox, or .*\n/,
  );
  assert.match(sh('journalctl -u signalbox'), /port 8080: the port is in use/);
  await waitUntil('systemd has given up', () => isActive() === 'failed');
  // If the administrator or the machine prevents starts, the package must not wait for one.
  const policy = '/usr/sbin/policy-rc.d';
  sh(
    `printf '#!/bin/sh\\nexit 101\\n' > ${policy} && chmod +x ${policy} && dpkg --configure signalbox && rm ${policy}`,
  );
  sh('systemctl disable signalbox');
  install('0.0.1');
  sh('systemctl enable signalbox');
  sh('mv /run/systemd/system /run/systemd/kept');
  install('99.0.0');
  sh('mv /run/systemd/kept /run/systemd/system');
  assert.match(install('0.0.1', 1), /this version does not run/);
  freePort();
  sh('dpkg --configure signalbox');
  assert.equal(isActive(), 'active');
  assert.match(ask('/health'), /"status":"healthy"/);
});

test('the package of 1.0.0 is upgraded: data, logins and settings stay, alerts of the last day become one incident', {
  skip: skip || findMissingHistory(),
}, async (t) => {
  const config = await writeReleased(join(folder, 'left'));
  const { run, sh, ask, install } = await boot(t);
  const post = (path: string, body: object, ...args: string[]) =>
    JSON.parse(ask(path, '-d', JSON.stringify(body), ...args));
  const toHeader = (token: string): string[] => ['-H', `Authorization: Bearer ${token}`];
  const sender = toHeader(key);
  const logIn = (Username: string) => post('/api/auth/login', { Username, Password });

  install('released/signalbox_1.0.0');
  sh(`systemctl stop signalbox && rm -rf /var/lib/signalbox/*
    cp /packages/left/data/* /var/lib/signalbox/ && chmod 600 /var/lib/signalbox/*
    chown signalbox:signalbox /var/lib/signalbox/*
    cat /packages/left/config.json >/etc/signalbox/config.json
    install -m 600 /packages/left/secrets.env /etc/signalbox/secrets.env
    systemctl start signalbox`);
  const admin = toHeader(logIn('ada').token);
  const read = (path: string) => JSON.parse(ask(path, ...admin));
  for (let count = 0; count < 2; count += 1) assert.equal(post('/api/alert', alert, ...sender).received, true);
  assert.match(ask('/api/incidents', ...admin), /"error"/);
  const alerts = read('/api/alerts?count=100');
  assert.equal(alerts.count, 14);

  assert.match(install('99.0.0'), /the packaged config file sets access to login/);
  assert.match(ask('/health'), /"status":"healthy"/);
  assert.match(sh('dpkg --status signalbox'), /Status: install ok installed\nPriority/);
  assert.equal(sh('cat /etc/signalbox/config.json'), `${config}\nexit code 0\n`);
  for (const expected of readExpected(fixture)) {
    const body = expected.path.startsWith('/api/alerts?') ? alerts : expected.body;
    assertShows([{ ...expected, body: read(expected.path) }], [{ ...expected, body }]);
  }
  assert.equal(logIn('bob').role, 'Reader');
  assert.match(ask('/api/alert', '-d', '{}'), /"error":"Missing token"/);

  const readIncidents = (): [string, number][] =>
    read('/api/incidents?state=all&limit=100')
      .data.filter(({ source }: Incident) => source === alert.source)
      .map(({ title, count }: Incident) => [title, count]);
  await waitUntil('the alerts of the last day are counted', () => readIncidents().length > 0);
  assert.deepEqual(readIncidents(), [['no backup', 2]]);
  const watches: { origin: string; state: string }[] = read('/api/watches').data;
  assert.ok(watches.length > 0 && watches.every(({ origin, state }) => origin === 'default' && state !== 'paused'));

  sh('systemctl restart signalbox');
  assert.match(ask('/health'), /"status":"healthy"/);
  assert.deepEqual(readIncidents(), [['no backup', 2]]);
  assert.equal(post('/api/alert', alert, ...sender).received, true);
  // The alerts may be in different incidents, because 1.0.0 did not store the key of an alert.
  const countAlerts = () => readIncidents().reduce((sum, [, count]) => sum + count, 0);
  await waitUntil('the next alert is folded', () => countAlerts() === 3);
  assert.equal(run('systemctl', 'is-active', 'signalbox').trim(), 'active');
});
