import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/server/package-info.ts';
import { createFolder } from '../../support/folder.ts';
import { atEnd, type Scope } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';

/** Options for an unprivileged account, if the tests run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Home of an ordinary user, with an empty npm cache. */
export interface Home {
  folder: string;
  variables: Record<string, string>;
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Command {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<Finished>;
}

/** Returns the reason why nothing can be installed on this machine, or false. */
export const findObstacle = (): string | false => {
  if (process.platform !== 'linux') return 'processes are looked up in /proc, which only Linux has';
  if (spawnSync('git', ['rev-parse'], { cwd: packageRoot }).status !== 0) return 'this is not a git checkout';
  if (spawnSync(process.execPath, ['--version'], nobody).status !== 0)
    return 'an ordinary user cannot run this Node.js';
  const view = ['view', 'fastify', 'version', '--fetch-retries=0', '--fetch-timeout=10000'];
  const { status } = spawnSync('npm', view, { env: listNetworkVariables(), stdio: 'ignore' });
  return status !== 0 && 'the npm registry cannot be reached';
};

export const createHome = (t: Scope): Home => {
  const folder = createFolder(t);
  const variables = {
    ...listNetworkVariables(),
    HOME: folder,
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_update_notifier: 'false',
  };
  giveToNobody(folder);
  return { folder, variables };
};

/** Returns the variables that npm needs to find programs and the registry. */
const listNetworkVariables = (): Record<string, string> => {
  const names = /^((https?|no)_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|cafile|proxy|https_proxy|noproxy))$/i;
  const found = Object.entries(process.env).filter(([name]) => names.test(name));
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  // Node passes on the folder for coverage unless another folder is given, but the ordinary user cannot write there.
  return { ...Object.fromEntries(found), PATH: path, NODE_V8_COVERAGE: '' };
};

/** Copies the files of the repository, as a clone would, into a folder with spaces in its path. */
export const createClone = ({ folder }: Home): string => {
  const clone = join(folder, `a fresh clone ${readdirSync(folder).length}`);
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: packageRoot, encoding: 'utf8' });
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    copyFileSync(join(packageRoot, file), join(clone, file));
  }
  giveToNobody(clone);
  return clone;
};

/** Creates a folder that belongs to the ordinary user, with these files. */
export const makeFolder = ({ folder }: Home, name: string, files: Record<string, string> = {}): string => {
  const path = join(folder, name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  giveToNobody(path);
  return path;
};

/** Starts a program as the ordinary user, in a separate process group. */
export const launch = (program: string, args: string[], cwd: string, { variables }: Home): Command => {
  const child = spawn(program, args, { cwd, env: variables, detached: true, ...nobody });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, output, ended };
};

/** Runs npm to its end. */
export const runNpm = async (args: string[], cwd: string, home: Home): Promise<Finished & Command['output']> => {
  const { output, ended } = launch('npm', args, cwd, home);
  return { ...(await ended), ...output };
};

export interface Server extends Command {
  url: string;
  /** Presses Ctrl+C and waits until no process runs in the folder. */
  stop(): Promise<void>;
}

/** Starts a program that serves, like `npm start`, and waits until it listens. */
export const startServer = async (
  t: Scope,
  [program = 'npm', ...args]: string[],
  cwd: string,
  home: Home,
): Promise<Server> => {
  const command = launch(program, [...args, '--port', '0', '--data-dir', join(home.folder, randomUUID())], cwd, home);
  atEnd(t, () => signalGroup(command.child, 'SIGKILL'));
  let finished = false;
  void command.ended.then(() => {
    finished = true;
  });
  const findUrl = () => /listens on (\S+)\n/.exec(command.output.stdout)?.[1];
  await waitUntil('the program listens', () => findUrl() !== undefined || finished, 120_000);
  const url = findUrl();
  if (url === undefined) throw new Error(`the program ended on startup: ${command.output.stderr}`);
  const stop = async () => {
    signalGroup(command.child, 'SIGINT');
    await waitUntil(`nothing runs in ${cwd}`, () => listProcesses(cwd).length === 0);
  };
  return { ...command, url, stop };
};

/** Returns standard error without the log of the program. */
export const listMessages = ({ output }: Command): string =>
  output.stderr
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .join('\n');

/** Sends a signal to a process group, as a terminal does for Ctrl+C. */
export const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
};

/** Returns the ids of the processes whose working directory is in a folder. */
export const listProcesses = (folder: string): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });

/** Returns the bytes on disk of everything below a folder. */
export const measureBytes = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + lstatSync(join(folder, name)).blocks * 512,
    0,
  );

/** Removes write permission for everyone until the scope ends. */
export const makeReadOnly = (t: Scope, folder: string): void => {
  const change = (mode: string) => execFileSync('chmod', ['-R', mode, folder]);
  change('a-w');
  atEnd(t, () => change('u+w'));
};

const giveToNobody = (folder: string): void => {
  if (nobody.uid !== undefined) execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, folder]);
  chmodSync(folder, 0o755);
};
