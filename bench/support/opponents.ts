import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cores } from './cores.ts';
import { requireProgram } from './programs.ts';
import type { Scope } from './scope.ts';
import { type Server, startServer } from './server.ts';

const toPath = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const bare = toPath('../opponents/bare.js');
const sink = toPath('../opponents/sink.js');
const loopback = new URL('../opponents/loopback.js', import.meta.url).href;
const jsonServer = toPath('../../../node_modules/json-server/lib/bin.js');

const alertmanagerConfig = 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n';

export type Start = (scope: Scope, cores: Cores | undefined) => Promise<Server>;

/** Node's own server with one constant response; see `opponents/bare.ts` for the kinds. */
export const createBare =
  (answer: string, kind: 'text' | 'buffer' | 'parse' = 'text'): Start =>
  (scope, cores) => {
    const file = write(scope, `answer-${randomUUID()}.json`, answer);
    const command = (port: number) => [process.execPath, bare, String(port), file, kind];
    return startServer(scope, cores, { command, path: '/' });
  };

/** json-server over a file of tasks, in production mode: it does not watch the file. */
export const createJsonServer =
  (tasks: object[]): Start =>
  (scope, cores) => {
    const file = write(scope, 'db.json', JSON.stringify({ tasks }));
    // Production mode requires this folder.
    mkdirSync(join(scope.folder, 'public'), { recursive: true });
    return startServer(scope, cores, {
      command: (port) => [process.execPath, '--import', loopback, jsonServer, '--port', String(port), file],
      path: '/tasks?_page=1&_per_page=1',
      variables: { NODE_ENV: 'production' },
    });
  };

/** A single Alertmanager without receivers. */
export const startAlertmanager: Start = (scope, cores) => {
  const program = requireProgram('prometheus-alertmanager');
  const config = write(scope, 'alertmanager.yml', alertmanagerConfig);
  return startServer(scope, cores, {
    command: (port) => [
      ...[program, `--config.file=${config}`, `--storage.path=${scope.folder}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address='],
    ],
    path: '/api/v2/status',
  });
};

/** Where alerts are delivered to; a GET returns how many there were, and the last one. On the processor for loads. */
export const startSink = (scope: Scope, cores: Cores | undefined, port?: number): Promise<Server> =>
  startServer(scope, cores && { ...cores, server: cores.load }, {
    command: (free) => [process.execPath, sink, String(free)],
    path: '/',
    ...(port !== undefined && { port }),
  });

/** Glances' web server; it reads the processes again if they are older than a second. */
export const startGlances: Start = (scope, cores) => {
  const program = requireProgram('glances');
  return startServer(scope, cores, {
    command: (port) => [
      ...[program, '--webserver', '--bind', '127.0.0.1', '--port', String(port)],
      ...['--disable-check-update', '--disable-autodiscover'],
    ],
    path: '/api/3/processlist',
  });
};

/** adnanh's webhook with one hook, `/hooks/run`, which returns the output of a command. */
export const createWebhook =
  (command: string[]): Start =>
  (scope, cores) => {
    const program = requireProgram('webhook');
    const [name = '', ...args] = command;
    const hook = {
      id: 'run',
      'execute-command': requireProgram(name),
      'pass-arguments-to-command': args.map((arg) => ({ source: 'string', name: arg })),
      'include-command-output-in-response': true,
    };
    const hooks = write(scope, 'hooks.json', JSON.stringify([hook]));
    return startServer(scope, cores, {
      command: (port) => [program, '-hooks', hooks, '-ip', '127.0.0.1', '-port', String(port)],
      path: '/',
    });
  };

const write = (scope: Scope, name: string, content: string): string => {
  const path = join(scope.folder, name);
  writeFileSync(path, content);
  return path;
};
