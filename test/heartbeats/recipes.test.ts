import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { requires } from '../lab/faults/support/requirements.ts';
import { findSection, readText, toBlocks } from '../repo/support/documents.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { longTest } from '../support/long.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { powerShell } from '../support/power-shell.ts';
import { command } from '../support/program.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { createHeartbeat, listRuns, readHeartbeat } from './support/heartbeats.ts';

const execute = promisify(execFile);
const [block = ''] = toBlocks(findSection(readText('docs/guides/heartbeats.md'), 'Recipes'), '');
const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** Finds the line of the document that contains a string. */
const findLine = (text: string): string =>
  lines.find((line) => line.includes(text)) ?? assert.fail(`docs/guides/heartbeats.md has no line with ${text}`);

/**
 * Creates a server with a heartbeat, a folder for the job, and the programs `signalbox` and `backup`. `backup` runs
 * `script`.
 */
const createWorld = async (t: Scope, script = 'echo "412 files"') => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job');
  const folder = createFolder(t);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data', 'file'), 'a file');
  const write = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write('signalbox', `SIGNALBOX_URL='${app.url}' exec '${command.join("' '")}' "$@"`);
  write('backup.sh', script);
  write('backup.cmd', script);
  const env = {
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
    LANG: 'C.UTF-8',
  };
  const fill = (line: string): string =>
    line
      .replaceAll('$ADDRESS', uuid)
      .replaceAll('http://127.0.0.1:8080', app.url)
      .replaceAll('/srv/', `${folder}/`)
      .replaceAll('/usr/bin/signalbox', 'signalbox');
  const run = (line: string, more: Record<string, string> = {}) =>
    execute('sh', ['-c', fill(line)], { env: { ...env, ...more }, cwd: folder });
  const readRuns = async () => (await listRuns(app, 'job')).map(({ result, exitCode }) => [result, exitCode]);
  return { app, uuid, folder, bin, env, fill, run, readRuns };
};

/** Returns the command in a line for cron or systemd. */
const toJob = (line: string): string => line.replace(/^([\d*]+ ){5}|^ExecStart=/, '');

test(
  'the lines of docs/guides/heartbeats.md for cron, systemd and shells report the result of a backup',
  requires({ programs: ['curl'] }),
  async (t) => {
    const { app, run, readRuns, folder } = await createWorld(t, '[ ! -e broken ] || exit 3');
    for (const line of ['* * * signalbox', 'ExecStart', 'curl'].map(findLine)) {
      await run(toJob(line));
      assert.deepEqual((await readRuns())[0], ['success', 0], line);
      writeFileSync(join(folder, 'broken'), '');
      await run(toJob(line)).catch(({ code }) => assert.equal(code, 3));
      assert.deepEqual((await readRuns())[0], ['failure', 3], line);
      assert.equal((await readHeartbeat(app, 'job')).state, 'down');
      rmSync(join(folder, 'broken'));
    }
    assert.equal((await readRuns()).length, 6);
  },
);

test('the curl commands of the documentation of healthchecks work', requires({ programs: ['curl'] }), async (t) => {
  const { app, uuid, run } = await createWorld(t);
  const url = `${app.url}/ping/${uuid}`;
  const rid = '123e4567-e89b-12d3-a456-426614174000';
  await run(`curl -m 10 --retry 5 ${url}`);
  await run(`backup.sh && curl -fsS -m 10 --retry 5 -o /dev/null ${url}`);
  await run(`m=$(backup.sh 2>&1); curl -fsS -m 10 --retry 5 --data-raw "$m" ${url}/$?`);
  await run(`backup.sh | curl -fsS --data-binary @- ${url}/log`);
  await run(`curl -fsS -m 10 --retry 5 "${url}/start?rid=${rid}"; curl -fsS --retry 3 "${url}?rid=${rid}"`);
  await run(`curl -fsS -X POST -H 'Content-Type: text/plain' --data 'no space left' ${url}/fail`);
  await run(`curl -fsS --head ${url}/start`);
  const runs = await listRuns(app, 'job');
  assert.deepEqual(
    runs.toReversed().map(({ result, exitCode, output }) => [result, exitCode, output]),
    [
      ['success', null, null],
      ['success', null, null],
      ['success', 0, '412 files'],
      ['log', null, '412 files'],
      ['success', null, null],
      ['failure', null, 'no space left'],
      ['running', null, null],
    ],
  );
  assert.deepEqual([runs[2]?.rid, runs[2]?.durationMs !== null], [rid, true]);
});

test('the line of docs/guides/heartbeats.md for Task Scheduler works in PowerShell', powerShell, async (t) => {
  const { env, fill, readRuns } = await createWorld(t, 'exit $CODE');
  for (const code of [0, 3]) {
    const script = fill(findLine('Invoke-RestMethod'));
    const flags = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];
    const running = execute(powerShell.program, flags, { env: { ...env, CODE: String(code) } });
    running.child.stdin?.end();
    // PowerShell exits with an error after a failed program.
    const { stdout } = await running.catch((error: { stdout: string }) => error);
    assert.equal(stdout, 'OK\n');
    assert.deepEqual((await readRuns())[0], [code === 0 ? 'success' : 'failure', code]);
  }
});

longTest(
  'the lines of docs/guides/heartbeats.md for borg and restic back up, and report a failure',
  requires({ programs: ['borg', 'restic'] }),
  async (t) => {
    const password = { BORG_PASSPHRASE: 'x', RESTIC_PASSWORD: 'x' };
    for (const [name, prepare] of [
      ['borg', 'borg init -e repokey /srv/borg'],
      ['restic', 'restic -q init -r /srv/restic'],
    ] as const) {
      const { run, readRuns, folder, app } = await createWorld(t);
      await run(prepare, password);
      await run(findLine(name), password);
      assert.ok(existsSync(join(folder, name, 'config')));
      await assert.rejects(run(findLine(name), { ...password, BORG_PASSPHRASE: 'y', RESTIC_PASSWORD: 'y' }));
      const [[failed, code] = [], success] = await readRuns();
      assert.deepEqual([failed, success], ['failure', ['success', 0]], name);
      assert.notEqual(code, 0);
      assert.match((await listRuns(app, 'job'))[0]?.output ?? '', /pass(word|phrase)/);
    }
  },
);

longTest(
  'the line of docs/guides/heartbeats.md for PostgreSQL dumps a database',
  {
    ...requires({ programs: ['pg_dump'] }),
    ...(toSkipPostgres() && { skip: toSkipPostgres() }),
  },
  async (t) => {
    const postgres = await startPostgres(t, { version: 15, settings: { fsync: 'off' } });
    await postgres.sql('CREATE DATABASE shop');
    const { port, username, password } = new URL(postgres.adminUrl);
    const { run, folder, readRuns } = await createWorld(t);
    const line = findLine('pg_dump');
    const variables = { PGHOST: '127.0.0.1', PGPORT: port, PGUSER: username, PGPASSWORD: password };
    await run(line, variables);
    assert.ok(existsSync(join(folder, 'shop.sql')));
    await assert.rejects(run(line, { ...variables, PGPORT: '1' }));
    assert.deepEqual(await readRuns(), [
      ['failure', 1],
      ['success', 0],
    ]);
  },
);

longTest(
  'borgmatic, a client of healthchecks, works with the address of signalbox',
  requires({ programs: ['borgmatic', 'borg'] }),
  async (t) => {
    const { folder, env, fill, readRuns, app } = await createWorld(t);
    const config = join(folder, 'borgmatic.yaml');
    const location = `location: {source_directories: [${folder}/data], repositories: [${folder}/borg]}`;
    writeFileSync(
      config,
      [location, 'storage: {encryption_passphrase: x}', `hooks: {${fill(findLine('ping_url'))}}`, ''].join('\n'),
    );
    const run = (...args: string[]) => execute('borgmatic', ['--config', config, ...args], { env, cwd: folder });
    await run('init', '--encryption', 'repokey');
    await run('create', '--stats');
    const [run1] = await listRuns(app, 'job');
    assert.equal(run1?.result, 'success');
    assert.notEqual(run1?.durationMs, null);
    assert.match(run1?.output ?? '', /Archive name|Creating archive/i);
    chmodSync(join(folder, 'borg', 'config'), 0o600);
    writeFileSync(join(folder, 'borg', 'config'), 'broken');
    await assert.rejects(run('create'));
    assert.deepEqual((await readRuns())[0], ['failure', null]);
    assert.equal((await readHeartbeat(app, 'job')).state, 'down');
  },
);

longTest(
  'the line of docs/guides/heartbeats.md for certbot renews at an ACME server, and reports a failure',
  requires({ programs: ['certbot', 'pebble', 'openssl', 'curl'] }),
  async (t) => {
    const { folder, run, readRuns, app } = await createWorld(t);
    const [port, management] = [await findFreePort(), await findFreePort()];
    const [cert, key] = [join(folder, 'acme.crt'), join(folder, 'acme.key')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    await execute('openssl', [
      'req',
      '-x509',
      '-nodes',
      '-newkey',
      'rsa:2048',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ]);
    const settings = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: cert,
      privateKey: key,
      httpPort: await findFreePort(),
      tlsPort: 1,
    };
    writeFileSync(join(folder, 'pebble.json'), JSON.stringify({ pebble: settings }));
    const server = spawn('pebble', ['-config', join(folder, 'pebble.json')], {
      env: { PATH: process.env['PATH'], PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' },
      stdio: 'ignore',
    });
    const ended = once(server, 'close');
    atEnd(t, () => server.kill('SIGKILL') && ended);
    mkdirSync(join(folder, 'letsencrypt'));
    const own = ['config', 'work', 'logs'].map((name) => `${name}-dir = ${folder}/certbot/${name}`);
    const acme = [
      `server = https://localhost:${port}/dir`,
      'agree-tos = true',
      'register-unsafely-without-email = true',
      `http-01-port = ${settings.httpPort}`,
    ];
    writeFileSync(
      join(folder, 'letsencrypt', 'cli.ini'),
      [...own, ...acme, 'non-interactive = true', 'force-renewal = true', 'no-random-sleep-on-renew = true', ''].join(
        '\n',
      ),
    );
    const variables = { REQUESTS_CA_BUNDLE: cert, XDG_CONFIG_HOME: folder };
    await waitUntil('the ACME server listens', () =>
      execute('curl', ['-sk', `https://localhost:${port}/dir`]).then(
        () => true,
        () => false,
      ),
    );
    await run('certbot certonly --standalone -d localhost', variables);
    await run(findLine('certbot'), variables);
    assert.deepEqual(await readRuns(), [['success', 0]]);
    server.kill('SIGKILL');
    await assert.rejects(run(findLine('certbot'), variables));
    assert.deepEqual((await readRuns())[0], ['failure', 1]);
    assert.match((await listRuns(app, 'job'))[0]?.output ?? '', /localhost/);
  },
);

longTest(
  'the line of docs/guides/heartbeats.md for cron is run by cron',
  requires({ programs: ['cron', 'unshare'], mounts: true }),
  async (t) => {
    const { folder, fill, bin, readRuns } = await createWorld(t);
    const table = join(folder, 'root');
    const line = fill(findLine('* * * signalbox').replace('0 2', '* *'));
    writeFileSync(table, `PATH=${bin}:/usr/bin:/bin\n${line}\n`, { mode: 0o600 });
    // Hides the other jobs of this machine's cron.
    const empty = ['/etc/cron.d', '/var/spool/cron/crontabs', '/run'].map((path) => `mount -t tmpfs tmpfs ${path}`);
    const script = [
      ...empty,
      'mount --bind /dev/null /etc/crontab',
      `cp ${table} /var/spool/cron/crontabs/root`,
      'exec cron -f',
    ];
    const cron = spawn('unshare', ['--mount', 'sh', '-ec', script.join('\n')], { stdio: 'ignore' });
    const ended = once(cron, 'close');
    atEnd(t, () => cron.kill('SIGKILL') && ended);
    await waitUntil('cron has run the job', async () => (await readRuns()).at(-1)?.[0] === 'success', 90_000);
  },
);
