import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { atEnd, type Scope } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';

/** Returns the reason why a test cannot run on this machine. False if all the programs are installed. */
export const findMissing = (...programs: string[]): string | false => {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).status !== 0);
  return missing.length > 0 && `${missing.join(' and ')} must be installed`;
};

/** Returns a free port, for programs that cannot choose one themselves. */
export const findPort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

interface Peer {
  /** Stops the program with SIGTERM. */
  stop(): Promise<void>;
}

/** Milliseconds until a program that does not stop is killed. */
const stopMs = 10_000;

/** Starts a program and waits until the address responds. The program ends with the scope. */
export const startPeer = async (
  t: Scope,
  program: string,
  args: string[],
  readyUrl: string,
  variables: Record<string, string> = {},
): Promise<Peer> => {
  const env = { ...process.env, ...variables };
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  atEnd(t, async () => {
    // After SIGKILL, the workers of Apache would go on.
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await ended;
    clearTimeout(timer);
  });
  await waitUntil(`${program} is ready`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
    return (await fetch(readyUrl).catch(() => undefined))?.ok === true;
  });
  return {
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
};
