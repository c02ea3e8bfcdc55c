import assert from 'node:assert/strict';
import { appendFileSync, existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { atEnd } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';
import {
  createClone,
  createHome,
  findObstacle,
  launch,
  listMessages,
  listProcesses,
  makeReadOnly,
  measureBytes,
  signalGroup,
  startServer,
} from './clone.ts';

const skip = findObstacle();
const npmStart = ['npm', 'start', '--'];
const home = createHome({ after });
const clone = skip ? '' : createClone(home);
const interrupted = skip ? undefined : await interrupt();
const first = skip ? undefined : await startTwice();

/** Starts the fresh clone and presses Ctrl+C while npm is installing. */
async function interrupt() {
  const { child, output, ended } = launch('npm', ['start'], clone, home);
  atEnd({ after }, () => signalGroup(child, 'SIGKILL'));
  const listStaging = () => readdirSync(clone).filter((name) => name.startsWith('.build-'));
  await waitUntil('npm installs', () => listStaging().some((name) => existsSync(join(clone, name, 'node_modules'))));
  signalGroup(child, 'SIGINT');
  await ended;
  await waitUntil('nothing runs in the clone', () => listProcesses(clone).length === 0, 5000);
  return { output, staging: listStaging(), isInstalled: existsSync(join(clone, 'node_modules')) };
}

/** Starts the clone twice at the same time. The tests need the installed packages and the build. */
async function startTwice() {
  const servers = await Promise.all([1, 2].map(() => startServer({ after }, npmStart, clone, home)));
  const statuses = await Promise.all(servers.map(({ url }) => getStatus(`${url}/docs/`)));
  await Promise.all(servers.map(({ stop }) => stop()));
  return { statuses, messages: servers.map(listMessages).join('') };
}

async function getStatus(url: string): Promise<number> {
  return (await fetch(url)).status;
}

const list = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

/** Returns every path below a folder, with the attributes that change when something is written. */
const describeTree = (folder: string) =>
  Object.fromEntries(
    list(folder).map((path) => {
      const { ino, size, mtimeMs } = lstatSync(path);
      return [path, `${ino} ${size} ${mtimeMs}`];
    }),
  );

/** Makes the lockfile request a version that is not installed. */
const outdate = (folder: string) => {
  const path = join(folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(path, 'utf8'));
  const { version } = lock.packages['node_modules/pino'];
  lock.packages['node_modules/pino'].version = '10.999.0';
  writeFileSync(path, JSON.stringify(lock, null, 2));
  return () => {
    lock.packages['node_modules/pino'].version = version;
    writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  };
};

test('npm start without a network and a build fails with one line', { skip }, async () => {
  const fresh = createClone(home);
  const variables = {
    ...home.variables,
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_cache: join(home.folder, 'empty-cache'),
  };
  const { output, ended } = launch(process.execPath, ['scripts/start.mjs'], fresh, { ...home, variables });
  assert.equal((await ended).code, 1, output.stdout);
  assert.match(output.stderr, /^Installing .+\nsignalbox: cannot install the dependencies: .*ECONNREFUSED.*\n$/);
});

test('SIGTERM to npm stops an installation', { skip }, async (t) => {
  const fresh = createClone(home);
  const { child, output, ended } = launch('npm', ['start'], fresh, home);
  t.after(() => signalGroup(child, 'SIGKILL'));
  await waitUntil('npm installs', () => output.stderr.includes('Installing'));
  child.kill('SIGTERM');
  await ended;
  await waitUntil('nothing runs in the clone', () => listProcesses(fresh).length === 0);
  assert.equal(existsSync(join(fresh, 'node_modules')), false);
});

test('Ctrl+C during the installation ends npm, and the next start installs', { skip }, () => {
  assert.ok(interrupted && first);
  assert.doesNotMatch(interrupted.output.stdout, /listens/);
  assert.deepEqual(interrupted.staging, []);
  assert.equal(interrupted.isInstalled, false);
  assert.match(first.messages, /^Installing the dependencies/m);
});

test('two simultaneous first starts both serve, and leave one complete installation and build', { skip }, () => {
  assert.ok(first);
  assert.deepEqual(first.statuses, [200, 200]);
  assert.deepEqual(
    readdirSync(clone).filter((name) => name.startsWith('.build')),
    [],
  );
});

test('npm start in a fresh clone installs at most 61 MB', { skip }, () => {
  const bytes = measureBytes(join(clone, 'node_modules'));
  assert.ok(bytes < 61_000_000, `${bytes} bytes`);
  assert.ok(bytes > 10_000_000, `${bytes} bytes`);
});

test('a second npm start serves the pages of the existing build and writes nothing', { skip }, async (t) => {
  const tree = describeTree(clone);
  const server = await startServer(t, npmStart, clone, home);
  const { url, stop } = server;
  assert.equal(await getStatus(`${url}/docs/`), 200);
  assert.equal(listMessages(server), '');
  await stop();
  assert.deepEqual(describeTree(clone), tree);
});

test('a native fault immediately ends a server that npm has started', { skip }, async (t) => {
  await startServer(t, npmStart, clone, home);
  const [pid] = listProcesses(clone).filter((each) =>
    /^[^\0]*node\0scripts\/start\.mjs\0/.test(readFileSync(`/proc/${each}/cmdline`, 'utf8')),
  );
  process.kill(Number(pid), 'SIGSEGV');
  await waitUntil('nothing runs in the clone', () => listProcesses(clone).length === 0, 5000);
});

test('npm start after a pull without a network runs the existing build with one warning line', {
  skip,
}, async (t) => {
  t.after(outdate(clone));
  const tree = describeTree(join(clone, 'node_modules'));
  const variables = { ...home.variables, npm_config_registry: 'http://127.0.0.1:9' };
  const server = await startServer(t, npmStart, clone, { ...home, variables });
  assert.equal(await getStatus(`${server.url}/docs/`), 200);
  assert.match(listMessages(server), /^Installing .+\nsignalbox: running the existing build: cannot install .+\n$/);
  await server.stop();
  assert.deepEqual(describeTree(join(clone, 'node_modules')), tree);
});

test('npm start builds changed sources without installing, and the compiler ends', { skip }, async (t) => {
  const bundle = join(clone, 'dist', 'signalbox.js');
  const { ino } = statSync(bundle);
  appendFileSync(join(clone, 'src', 'main.ts'), '// changed\n');
  const server = await startServer(t, npmStart, clone, home);
  assert.notEqual(statSync(bundle).ino, ino);
  const programs = listProcesses(clone).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  assert.ok(!programs.some((line) => line.includes('--service')), programs.join('; '));
  assert.equal(listMessages(server), '');
  await server.stop();
});

test('npm start serves from a read-only checkout that was built', { skip }, async (t) => {
  makeReadOnly(t, clone);
  const server = await startServer(t, npmStart, clone, home);
  assert.equal(await getStatus(`${server.url}/docs/`), 200);
  assert.equal(listMessages(server), '');
  await server.stop();
});

test('npm start runs the existing build of a read-only checkout with newer sources', { skip }, async (t) => {
  appendFileSync(join(clone, 'src', 'main.ts'), '// changed again\n');
  makeReadOnly(t, clone);
  const server = await startServer(t, npmStart, clone, home);
  assert.match(listMessages(server), /^signalbox: running the existing build: cannot write here: .+\n$/);
  await server.stop();
});

test('SIGTERM to npm stops the server', { skip }, async (t) => {
  const { child, output, ended } = await startServer(t, npmStart, clone, home);
  child.kill('SIGTERM');
  await ended;
  await waitUntil('nothing runs in the clone', () => listProcesses(clone).length === 0);
  assert.match(output.stderr, /"signal":"SIGTERM","msg":"shutting down"/);
});
