import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/free-port.ts';
import { waitUntil } from '../../support/wait.ts';
import { build as buildPart, executable } from '../package/build.ts';
import { createEngine, type Engine, toSkip } from './support.ts';

interface Inspected {
  Config: { User: string; Healthcheck?: { Test: string[] } };
  State: { Pid: number; ExitCode: number };
}

const inspect = (podman: Engine['podman'], name: string): Inspected => JSON.parse(podman('inspect', name))[0];

test('the container runs without root on a read-only root file system, is healthy, and keeps its volume', {
  skip: toSkip(),
}, async (t) => {
  const { build, podman } = createEngine(t);
  const image = build();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const data = createFolder(t);
  const start = async (): Promise<void> => {
    podman(
      ...['run', '--detach', '--name', 'box', '--read-only', '--cap-drop=all', '--security-opt=no-new-privileges'],
      ...['--network=host', `--env=SIGNALBOX_PORT=${port}`],
      // The engine's own limits may be higher than this machine's.
      ...['--ulimit=nofile=1024:1024', '--ulimit=nproc=1000:1000', `--volume=${data}:/var/lib/signalbox:U`, image],
    );
    await waitUntil(
      'the container is ready',
      async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true,
    );
  };
  await start();
  const { Config, State } = inspect(podman, 'box');
  assert.equal(Config.User, '10001:10001');
  assert.match(readFileSync(`/proc/${State.Pid}/status`, 'utf8'), /^Uid:\t10001\t10001\t10001\t10001$/m);
  assert.deepEqual(Config.Healthcheck?.Test, ['CMD', 'signalbox', 'healthcheck']);
  assert.equal(podman('healthcheck', 'run', 'box'), '');
  assert.match(podman('exec', 'box', 'sh', '-c', '! touch /usr/x 2>&1'), /Read-only file system/);
  assert.equal(podman('exec', 'box', 'sh', '-c', 'command -v curl wget node npm || true'), '');
  for (const path of ['/console/', '/docs/', '/openapi.json', '/health']) {
    assert.equal((await fetch(url + path)).status, 200, path);
  }
  for (const path of ['/api/processes', '/api/tasks', '/api/alerts']) {
    assert.equal((await fetch(url + path)).status, 401, path);
  }
  const { adminPassword } = JSON.parse(podman('exec', 'box', 'cat', '/var/lib/signalbox/secrets.json'));
  const post = async (path: string, body: object, headers = {}): Promise<Response> =>
    fetch(url + path, { method: 'POST', body: JSON.stringify(body), headers });
  const login = await post('/api/auth/login', { Username: 'admin', Password: adminPassword });
  const { token } = (await login.json()) as { token: string };
  const bearer = { authorization: `Bearer ${token}` };
  assert.equal((await post('/api/alert', { message: 'kept in the volume' }, bearer)).status, 200);
  assert.equal((await post('/api/tasks', { Title: 'kept, too' }, bearer)).status, 201);
  podman('stop', '--time', '20', 'box');
  assert.equal(inspect(podman, 'box').State.ExitCode, 0);
  podman('rm', 'box');
  await start();
  for (const [path, text] of [
    ['/api/alerts', /kept in the volume/],
    ['/api/tasks', /kept, too/],
    ['/api/items', /"total":0/],
  ] as const) {
    assert.match(await (await fetch(url + path, { headers: bearer })).text(), text);
  }
});

test('an executable that was built earlier is packed unchanged, and nothing is built', {
  skip: toSkip(),
}, async (t) => {
  await buildPart('executable');
  const folder = createFolder(t);
  cpSync(executable, join(folder, 'src', 'dist', 'signalbox-linux-x64'));
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  const files = createEngine(t).pack(folder);
  const packed = join(files, 'usr', 'bin', 'signalbox');
  assert.ok(readFileSync(packed).equals(readFileSync(executable)), 'it is the same file');
  assert.equal(statSync(packed).mode & 0o777, 0o755);
  const { uid, gid } = statSync(join(files, 'var', 'lib', 'signalbox'));
  assert.deepEqual([uid, gid], [10001, 10001]);
});
