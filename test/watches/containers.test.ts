import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, statSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { requires } from '../lab/faults/support/requirements.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { readWatch, tryWatch, waitForAlerts, waitForState } from './support/watches.ts';

const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1000:1000'];

/** Starts Podman's service with an image of nothing but Busybox. */
const startPodman = async (t: Scope) => {
  const folder = createFolder(t);
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const own = [...storage, '--cgroup-manager', 'cgroupfs', '--events-backend', 'file', '--runtime', 'runc'];
  const podman = (...args: string[]): string => execFileSync('podman', [...own, ...args], { encoding: 'utf8' });
  atEnd(t, async () => {
    podman('rm', '--force', '--all', '--time', '0');
    // A container that has ended is cleaned up in the background.
    await waitUntil('no process uses the folder', () => spawnSync('pgrep', ['-f', folder]).status === 1);
  });
  mkdirSync(join(folder, 'root', 'bin'), { recursive: true });
  const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
  // Podman runs the health command with a shell.
  for (const name of ['busybox', 'sh']) copyFileSync(busybox, join(folder, 'root', 'bin', name));
  execFileSync('tar', ['-C', join(folder, 'root'), '-cf', join(folder, 'image.tar'), '.']);
  podman('import', '--quiet', join(folder, 'image.tar'), 'busybox');
  const socket = join(folder, 'podman.sock');
  const service = spawn('podman', [...own, 'system', 'service', '--time', '0', `unix://${socket}`], {
    stdio: 'ignore',
  });
  const ended = once(service, 'exit');
  atEnd(t, async () => {
    service.kill('SIGKILL');
    await ended;
  });
  await waitUntil('the socket exists', () => statSync(socket, { throwIfNoEntry: false })?.isSocket() === true);
  const start = (name: string, ...args: string[]): string =>
    podman(
      'run',
      '--detach',
      '--name',
      name,
      '--network',
      'none',
      ...limits,
      ...args,
      'busybox',
      '/bin/busybox',
      'sleep',
      '600',
    );
  return { socket, podman, start };
};

test('a container must run and not be unhealthy', requires({ programs: ['podman', 'runc', 'busybox'] }), async (t) => {
  const { socket, podman, start } = await startPodman(t);
  const health = ['--health-cmd', '/bin/busybox echo no /ok; /bin/busybox test -e /ok'];
  start('checked', ...health, '--health-interval', 'disable', '--health-retries', '1');
  start('plain');
  const watches = ['checked', 'plain', 'none'].map((container) => ({
    name: container,
    type: 'container',
    container,
    socket,
    every: 1,
  }));
  const app = await startApp(t, { settings: { watches } });
  const token = await app.login('admin');
  const textOf = async (name: string) => (await readWatch(app, token, name)).things[0]?.text;
  await waitForState(app, token, 'plain', 'ok');
  assert.equal(await textOf('plain'), 'plain is running');
  await waitForState(app, token, 'checked', 'ok');
  assert.equal(await textOf('checked'), 'checked is running, and starting');
  await waitForState(app, token, 'none', 'firing');
  assert.equal(await textOf('none'), 'there is no container none');
  assert.throws(() => podman('healthcheck', 'run', 'checked'));
  const [, unhealthy] = await waitForAlerts(app, 2);
  assert.deepEqual([unhealthy?.level, unhealthy?.message], ['ERROR', 'checked is running, and unhealthy']);
  assert.match(unhealthy?.details ?? '', /^(no \/ok)?$/);
  podman('exec', 'checked', '/bin/busybox', 'touch', '/ok');
  podman('healthcheck', 'run', 'checked');
  await waitForState(app, token, 'checked', 'ok');
  assert.equal(await textOf('checked'), 'checked is running, and healthy');
  podman('pause', 'plain');
  await waitForState(app, token, 'plain', 'firing');
  assert.equal(await textOf('plain'), 'plain is paused');
  podman('unpause', 'plain');
  podman('kill', 'plain');
  await waitUntil('the watch sees the end', async () => (await textOf('plain')) === 'plain is exited with code 137');
});

const startEngine = async (t: Scope, behave: (response: ServerResponse) => void): Promise<string> => {
  const folder = createFolder(t);
  chmodSync(folder, 0o755);
  const server = createServer((_request, response) => behave(response)).listen(join(folder, 'engine.sock'));
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return join(folder, 'engine.sock');
};

const refusal = async ({ request }: TestApp, token: string, body: object) => {
  const { status, json } = await request<{ error: string }>('POST', '/api/watches/test', {
    token,
    body: { name: 'x', ...body },
  });
  return [status, json.error];
};

test('containers cannot be checked without a responding engine, and runtime watches cannot set a socket', async (t) => {
  const engines = {
    missing: join(createFolder(t), 'none.sock'),
    broken: await startEngine(t, (response) => void response.writeHead(500).end('{"message":"no storage"}')),
    garbage: await startEngine(t, (response) => void response.end('<html>')),
    lying: await startEngine(t, (response) => void response.end('{"State":{"Status":["\\u0007x"],"Health":7}}')),
    hanging: await startEngine(t, () => undefined),
    huge: await startEngine(t, (response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
      };
      response.on('drain', write);
      write();
    }),
  };
  const watches = Object.entries(engines).map(([name, socket]) => ({
    name,
    type: 'container',
    container: 'web',
    socket,
    for: 3600,
  }));
  const app = await startApp(t, { settings: { watches } });
  const token = await app.login('admin');
  const textOf = async (name: string) =>
    (await readWatch(app, token, name)).things[0]?.text.replace(engines[name as 'huge'], 'SOCKET');
  for (const name of ['missing', 'broken', 'garbage', 'huge', 'hanging'])
    await waitForState(app, token, name, 'cannot check');
  assert.equal(await textOf('missing'), 'SOCKET cannot be reached (ENOENT)');
  assert.equal(await textOf('broken'), 'SOCKET responded 500: {"message":"no storage"}');
  assert.equal(await textOf('garbage'), 'SOCKET responded 200: <html>');
  assert.equal(await textOf('huge'), 'SOCKET responded 200: ');
  assert.equal(await textOf('hanging'), 'SOCKET does not respond in time');
  await waitForState(app, token, 'lying', 'pending');
  assert.equal(await textOf('lying'), 'web is x');
  // The config file's watch is tested unchanged.
  const { settings } = await readWatch(app, token, 'missing');
  assert.equal((await tryWatch(app, token, settings))[0]?.state, 'cannot check');
  const onlyConfig = 'watches of files and programs can be defined only in the config file, in watches';
  assert.deepEqual(await refusal(app, token, { type: 'container', container: 'web', socket: '/x' }), [400, onlyConfig]);
  const badName = 'container must be the name or id of a container';
  assert.deepEqual(await refusal(app, token, { type: 'container', container: '../info' }), [400, badName]);
});
