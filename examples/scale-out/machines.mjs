import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Programs that run here, with their ports. On several machines, each has an address of its own. */
export const ports = { proxy: 8400, one: 8401, two: 8402, primary: 8411, standby: 8412 };

/** Folder for data, logs and process ids, which is deleted when everything is stopped. */
export const folder = join(tmpdir(), 'signalbox-scale-out');

export const url = `http://127.0.0.1:${ports.proxy}`;

const host = '127.0.0.1';
const password = 'example-password';
const program = fileURLToPath(new URL('../../dist/signalbox.js', import.meta.url));

/** Address with both hosts, of which signalbox uses the one that accepts changes. */
const store = `postgres://signalbox:${password}@${host}:${ports.primary},${host}:${ports.standby}/signalbox`;

/** Finds the user who runs PostgreSQL. PostgreSQL refuses root, so root runs it as another user. */
const findOwner = () => {
  if (process.getuid() !== 0) return {};
  const read = (flag) => Number(execFileSync('id', [flag, 'nobody']));
  return { uid: read('-u'), gid: read('-g') };
};
const owner = findOwner();

const findBin = () => {
  const debian = '/usr/lib/postgresql';
  const [newest] = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  return newest === undefined ? '' : join(debian, newest, 'bin');
};
const bin = findBin();

const run = (name, args, more = {}) =>
  execFileSync(join(bin, name), args, {
    ...owner,
    cwd: '/',
    env: { PATH: process.env.PATH, PGPASSWORD: password },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...more,
  });

const sql = (port, text) =>
  String(run('psql', ['-h', host, '-p', String(port), '-U', 'signalbox', '-d', 'postgres', '-Atc', text])).trim();

const waitFor = async (what, check) => {
  for (const end = Date.now() + 30_000; Date.now() < end; await setTimeout(100)) {
    if (
      await Promise.resolve()
        .then(check)
        .catch(() => false)
    )
      return;
  }
  throw new Error(`${what}: not within 30 s; see the logs in ${folder}`);
};

/** Starts a program that outlives this process. Its process id and output are in the folder. */
const start = (name, command, args, options = {}) => {
  const output = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', output, output], detached: true, ...options });
  child.on('error', (error) => process.stderr.write(`${name}: ${error.message}\n`));
  child.unref();
  writeFileSync(join(folder, `${name}.pid`), String(child.pid));
};

export const readPid = (name) => Number(readFileSync(join(folder, `${name}.pid`), 'utf8'));

const send = (pid, signal) => {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
};

/** Kills a process and its children, as a power cut would. */
export const kill = (name) => {
  const pid = readPid(name);
  send(pid, 'SIGSTOP');
  let children = '';
  try {
    children = String(execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)]));
  } catch {
    // The process has no children.
  }
  for (const child of [pid, ...children.trim().split(/\s+/).filter(Boolean).map(Number)]) send(child, 'SIGKILL');
};

const startPostgres = async (name) => {
  const args = ['-D', join(folder, name, 'data'), '-p', String(ports[name])];
  start(name, join(bin, 'postgres'), args, { ...owner, cwd: '/' });
  await waitFor(`${name} accepts connections`, () => sql(ports[name], 'SELECT 1') === '1');
};

/** Creates an empty folder that belongs to the user who runs PostgreSQL. */
const createData = (name) => {
  const data = join(folder, name);
  mkdirSync(data);
  if (owner.uid !== undefined) execFileSync('chown', [`${owner.uid}:${owner.gid}`, data]);
  return join(data, 'data');
};

/** Starts a primary, and a standby that has each commit before the client gets the response. */
export const startDatabases = async () => {
  mkdirSync(folder, { mode: 0o755 });
  const secret = join(folder, 'password');
  writeFileSync(secret, password, { mode: 0o644 });
  const data = createData('primary');
  run('initdb', ['-D', data, '-U', 'signalbox', '-A', 'scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8']);
  const settings = [
    `listen_addresses = '${host}'`,
    "unix_socket_directories = ''",
    'max_connections = 100',
    'wal_keep_size = 512MB',
    'wal_receiver_timeout = 5s',
    'wal_sender_timeout = 5s',
  ].join('\n');
  execFileSync('tee', ['-a', join(data, 'postgresql.conf')], { ...owner, input: settings, cwd: '/' });
  await startPostgres('primary');
  sql(ports.primary, 'CREATE DATABASE signalbox');
  const source = `host=${host} port=${ports.primary} user=signalbox password=${password} application_name=standby`;
  run('pg_basebackup', ['-d', source, '-D', createData('standby'), '-R', '-X', 'stream', '-c', 'fast']);
  await startPostgres('standby');
  sql(ports.primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  sql(ports.primary, 'SELECT pg_reload_conf()');
  await waitFor('the standby is synchronous', () => /^sync$/.test(sql(ports.primary, stateOfStandby)));
};

const stateOfStandby = 'SELECT sync_state FROM pg_stat_replication';

/** Makes the standby the primary. */
export const promote = () => sql(ports.standby, 'SELECT pg_promote(true, 30)');

/** Starts an instance. All instances have the same secret, users and time zone. */
export const startInstance = async (name) => {
  const flags = ['--instance-name', name, '--time-zone', 'UTC', '--trust-proxy', host];
  start(name, process.execPath, [program, '--port', String(ports[name]), '--data-dir', join(folder, name), ...flags], {
    env: {
      PATH: process.env.PATH,
      SIGNALBOX_STORE: store,
      SIGNALBOX_JWT_SECRET: 'the same key of 32 bytes or more for all instances',
      SIGNALBOX_ADMIN_PASSWORD: password,
      SIGNALBOX_READER_PASSWORD: password,
    },
  });
  await waitFor(`instance ${name} answers`, async () => (await fetch(`http://${host}:${ports[name]}/livez`)).ok);
};

/**
 * Settings of the proxy. The probe asks if an instance runs, but not if the database does, because otherwise all
 * instances would be taken out together.
 */
const proxySettings = `
global
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  option forwardfor
  option redispatch 1
  retries 3
  retry-on conn-failure
frontend signalbox
  bind ${host}:${ports.proxy}
  default_backend instances
backend instances
  balance leastconn
  option httpchk
  http-check send meth GET uri /livez ver HTTP/1.1 hdr Host ${host}
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
  server one ${host}:${ports.one}
  server two ${host}:${ports.two}
`;

export const startProxy = async () => {
  const path = join(folder, 'haproxy.cfg');
  writeFileSync(path, proxySettings);
  start('proxy', 'haproxy', ['-f', path], { env: { PATH: `${process.env.PATH}:/usr/sbin` } });
  await waitFor('the proxy answers', async () => (await fetch(`${url}/livez`)).ok);
};

/** Stops everything that was started, the databases last, and deletes the folder. */
export const stopAll = async () => {
  for (const [name, signal] of [
    ['proxy', 'SIGTERM'],
    ['one', 'SIGTERM'],
    ['two', 'SIGTERM'],
    ['primary', 'SIGINT'],
    ['standby', 'SIGINT'],
  ]) {
    if (!existsSync(join(folder, `${name}.pid`))) continue;
    const pid = readPid(name);
    for (const end = Date.now() + 15_000; send(pid, Date.now() > end ? 'SIGKILL' : signal); ) await setTimeout(200);
  }
  rmSync(folder, { recursive: true, force: true });
};
