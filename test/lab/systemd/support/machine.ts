import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createFolder } from '../../../support/folder.ts';
import { waitUntil } from '../../../support/wait.ts';
import { atExit } from '../../faults/support/exit.ts';
import { createControlGroup } from './control-group.ts';
import { addPackages, createRoot, listBinds } from './folder.ts';

/** Runs a program in the container as root. Returns its standard output, whatever the exit code. */
export type Run = (program: string, ...args: string[]) => string;

export interface Machine {
  run: Run;
  /** Address of the server. It runs in the container as a service without root's rights. */
  url: string;
  /** Sends a command line to the server. */
  execute<T = Record<string, unknown>>(command: string): Promise<T[]>;
}

/**
 * Boots systemd in a container and starts the server in it. Both end with the test. The files in `files` are available
 * in /packages.
 */
export const startMachine = async (t: TestContext, files?: string): Promise<Machine> => {
  const run = await bootMachine(t, { withService: true, ...(files !== undefined && { files }) });
  run('systemctl', 'start', 'signalbox');
  const readUrl = () => /listens on (\S+)\n/.exec(run('journalctl', '-u', 'signalbox', '-o', 'cat'))?.[1];
  await waitUntil('the server listens', () => readUrl() !== undefined);
  const url = String(readUrl());
  return { run, url, execute: (command) => execute(`${url}/api/execute`, command) };
};

interface Options {
  /**
   * True to set up signalbox as a service. If false, the container has its own network and contains nothing of
   * signalbox.
   */
  withService: boolean;
  /**
   * True to install Debian packages in the container. The container can then write to /usr and knows the packages of
   * this machine.
   */
  installs?: boolean;
  /** Folder that appears as /packages in the container. */
  files?: string;
}

/** Boots systemd in a container. */
export const bootMachine = async (t: TestContext, options: Options): Promise<Run> => {
  const container = startContainer(t, `signalbox-test-${process.pid}`, options);
  const run: Run = (program, ...args) => enter(findInit(container), program, args);
  await waitUntil('the machine has booted', () => /running|degraded/.test(run('systemctl', 'is-system-running')));
  return run;
};

const startContainer = (t: TestContext, name: string, options: Options): ChildProcess => {
  const parent = createFolder(t);
  const folder = join(parent, 'root');
  createRoot(folder, options);
  if (options.installs) addPackages(folder);
  const group = createControlGroup(name);
  const flags = ['--quiet', '--register=no', '--keep-unit', '--console=pipe', `--machine=${name}`];
  if (!options.withService) flags.push('--private-network');
  if (options.files) flags.push(`--bind-ro=${options.files}:/packages`);
  const nspawn = [
    'systemd-nspawn',
    ...flags,
    ...listBinds(options.installs ? join(parent, 'usr') : undefined),
    '-D',
    folder,
    '--boot',
  ];
  // The program does not start until its process is in the control group.
  const child = spawn('sh', ['-c', 'read go && exec "$@"', 'sh', ...nspawn], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close');
  // Everything in the container ends with process 1, and nspawn cleans up. Before process 1 exists, there is only
  // nspawn.
  const kill = (): void => {
    if (child.exitCode === null) process.kill(Number(findInit(child) || child.pid), 'SIGKILL');
  };
  const forget = atExit(kill);
  t.after(async () => {
    kill();
    await ended;
    forget();
    group.remove();
    rmSync(`/run/systemd/nspawn/propagate/${name}`, { recursive: true, force: true });
  });
  group.add(Number(child.pid));
  child.stdin?.end('go\n');
  return child;
};

/**
 * Returns the process id that process 1 of the container has on this machine. Empty in the first moments of the
 * container.
 */
const findInit = ({ pid }: ChildProcess): string =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ', 1).join();

/**
 * Runs a program in the container and ends it if it hangs. Nothing else can end it, because this process is waiting for
 * it.
 */
const enter = (init: string, program: string, args: string[]): string =>
  spawnSync('nsenter', ['--all', '--target', init, '--', program, ...args], { encoding: 'utf8', timeout: 120_000 })
    .stdout;

const execute = async <T>(url: string, command: string): Promise<T[]> => {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ command }) });
  const { result, error } = (await response.json()) as { result?: T[]; error?: string };
  if (!result) throw new Error(error);
  return result;
};
