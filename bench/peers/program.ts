import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const pollMs = 20;
const patienceMs = 30_000;

export interface Program {
  kill(): Promise<void>;
}

/** Starts a program in the foreground; resolves once `isReady`, fails with what it printed where that never comes. */
export const startProgram = async (
  name: string,
  args: string[],
  isReady: () => Promise<boolean>,
): Promise<Program> => {
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = `${printed}${text}`.slice(-4000);
    });
  }
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  for (const deadline = performance.now() + patienceMs; !(await isReady()); await setTimeout(pollMs)) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await kill();
      throw new Error(`${name} does not start:\n${printed}`);
    }
  }
  return { kill };
};

/** A port of 127.0.0.1 that nobody listens on. */
export const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
};
