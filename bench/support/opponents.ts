import { join } from 'node:path';
import { compile, root } from './compile.ts';
import { requireProgram } from './machine.ts';
import type { ServerOptions } from './server.ts';

const jsonServer = join(root, 'node_modules/json-server/lib/bin.js');

/** Creates Node's own server with one constant response. See `opponents/bare.ts` for the kinds. */
export const createBare = (
  answer: string,
  kind: 'text' | 'buffer' | 'parse' | 'store' | 'sink' = 'text',
): ServerOptions => ({
  command: (port) => [process.execPath, compile('bench/opponents/bare'), String(port), kind, 'answer.json'],
  files: { 'answer.json': answer },
  path: '/',
});

/** Creates json-server on a file of tasks, in production mode so that it does not watch the file. */
export const createJsonServer = (tasks: object[]): ServerOptions => ({
  command: (port) => [
    process.execPath,
    '--import',
    compile('bench/opponents/loopback'),
    jsonServer,
    '--port',
    String(port),
    'db.json',
  ],
  // Production mode requires the folder.
  files: { 'db.json': JSON.stringify({ tasks }), 'public/index.html': '' },
  path: '/tasks?_page=1&_per_page=1',
  variables: { NODE_ENV: 'production' },
});

/** Single Alertmanager without receivers. */
export const alertmanager: ServerOptions = {
  command: (port) => [
    ...[requireProgram('prometheus-alertmanager'), '--config.file=alertmanager.yml', '--storage.path=.'],
    ...[`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address='],
  ],
  files: { 'alertmanager.yml': 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n' },
  path: '/api/v2/status',
};

/** Receiver of deliveries, on the processor for loads. A GET returns the number of deliveries and the last delivery. */
export const sink: ServerOptions = { ...createBare('', 'sink'), place: 'load' };

/** Web server of Glances. If its reading is more than a second old, it reads the processes again. */
export const glances: ServerOptions = {
  command: (port) => [
    ...[requireProgram('glances'), '--webserver', '--bind', '127.0.0.1', '--port', String(port)],
    ...['--disable-check-update', '--disable-autodiscover'],
  ],
  path: '/api/3/processlist',
};

/** Creates adnanh's webhook with one hook, `/hooks/run`. The hook returns the output of a program. */
export const createWebhook = (program: string): ServerOptions => {
  const hook = { id: 'run', 'execute-command': program, 'include-command-output-in-response': true };
  const flags = ['-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port'];
  return {
    command: (port) => [requireProgram('webhook'), ...flags, String(port)],
    files: { 'hooks.json': JSON.stringify([hook]) },
    path: '/',
  };
};
