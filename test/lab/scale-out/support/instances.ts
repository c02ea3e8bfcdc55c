import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { passwords, secret } from '../../../support/credentials.ts';
import { createFolder } from '../../../support/folder.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { type Running, startProgram } from '../../../support/program.ts';
import { atEnd, type Scope } from '../../../support/scope.ts';
import { toStoreFlags } from '../../../support/store-flags.ts';
import { waitUntil } from '../../../support/wait.ts';

const haproxy = '/usr/sbin/haproxy';

interface Instance {
  /** Address. It does not change across restarts. */
  url: string;
  /** Kills the instance with SIGKILL, or stops it. */
  stop(signal?: NodeJS.Signals): Promise<unknown>;
  start(): Promise<void>;
  /** Returns the combined log of all starts. */
  log(): string;
}

export interface Instances {
  all: [Instance, ...Instance[]];
  /** Client addresses: the address of HAProxy if it is installed, otherwise the address of each instance. */
  urls: string[];
}

interface Options {
  store: string;
  /** Number of instances. Default: 2. */
  count?: number;
  flags?: string[];
  /** Further settings, in the form of the config file. */
  settings?: object;
}

/** Starts servers that share a store, each with its own data directory. */
export const startInstances = async (
  t: Scope,
  { store, count = 2, flags = [], settings = {} }: Options,
): Promise<Instances> => {
  const [first, ...others] = await Promise.all(
    Array.from({ length: count }, () => startInstance(t, [...toStoreFlags(store, settings), ...flags])),
  );
  if (!first) throw new Error('there must be an instance');
  const urls = [first, ...others].map(({ url }) => url);
  const isBalanced = existsSync(haproxy) || process.env['CI'] === 'true';
  return { all: [first, ...others], urls: isBalanced ? [await startHaproxy(t, urls)] : urls };
};

const startInstance = async (t: Scope, flags: string[]): Promise<Instance> => {
  const dataDir = createFolder(t);
  const port = await findFreePort();
  const starts: Running[] = [];
  // Refusals by an overloaded machine are not tested here.
  const own = ['--port', String(port), '--data-dir', dataDir, '--max-event-loop-delay', '0'];
  const start = async (): Promise<void> => {
    const running = await startProgram(t, [...own, ...flags], {
      bundled: true,
      variables: {
        TZ: 'UTC',
        SIGNALBOX_JWT_SECRET: secret,
        SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
        SIGNALBOX_READER_PASSWORD: passwords.reader,
      },
    });
    starts.push(running);
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async (signal = 'SIGTERM') => starts.at(-1)?.stop(signal),
    start,
    log: () => starts.map(({ output }) => output.stderr).join(''),
  };
};

/**
 * Starts HAProxy in front of the servers, configured as docs/guides/scaling.md recommends: it never repeats a request
 * that a server has received.
 */
const startHaproxy = async (t: Scope, urls: readonly string[]): Promise<string> => {
  const port = await findFreePort();
  const path = join(createFolder(t), 'haproxy.cfg');
  const servers = urls.map((url, index) => `  server instance${index} ${new URL(url).host} check inter 200ms`);
  writeFileSync(path, [...configuration(port), ...servers, ''].join('\n'));
  const child = spawn(haproxy, ['-db', '-f', path], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  atEnd(t, () => child.kill('SIGKILL') && ended);
  const url = `http://127.0.0.1:${port}`;
  await waitUntil('HAProxy answers', async () => {
    if (child.exitCode !== null) throw new Error('HAProxy has ended');
    return (await fetch(`${url}/livez`).catch(() => undefined))?.ok === true;
  });
  return url;
};

const configuration = (port: number): string[] => [
  'defaults',
  '  mode http',
  '  timeout connect 1s',
  '  timeout client 30s',
  '  timeout server 30s',
  // A busy instance is not dead.
  '  timeout check 5s',
  '  retries 2',
  '  retry-on conn-failure',
  '  option redispatch',
  '  option httpchk',
  '  http-check send meth GET uri /livez ver HTTP/1.1 hdr Host localhost',
  'frontend clients',
  `  bind 127.0.0.1:${port}`,
  '  default_backend instances',
  'backend instances',
  '  balance roundrobin',
];
