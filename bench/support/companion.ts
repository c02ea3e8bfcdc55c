import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atExit } from '../../test/faults/support/exit.ts';
import { bindTo, type Cores } from './cores.ts';
import type { Scope } from './scope.ts';

/** A separate process that creates load for a server, so that creating it does not delay the measurements here. */
export interface Companion<T> {
  /** The next message of the process; throws if it ends before. */
  read(): Promise<T>;
}

/**
 * Starts a compiled module of `bench/stress` on the processor for loads and sends it an order; it ends with the scope.
 */
export const startCompanion = <T>(
  scope: Scope,
  cores: Cores | undefined,
  module: string,
  order: object,
): Companion<T> => {
  const file = fileURLToPath(new URL(`../stress/${module}.js`, import.meta.url));
  const [program = '', ...args] = bindTo(cores?.load, [process.execPath, file]);
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const forget = atExit(() => child.kill('SIGKILL'));
  child.send(order);
  const messages: T[] = [];
  let wake = (): void => undefined;
  child.on('message', (message) => {
    messages.push(message as T);
    wake();
  });
  child.on('disconnect', () => wake());
  const ended = once(child, 'close').then(forget);
  scope.atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    read: async () => {
      while (messages.length === 0) {
        if (!child.connected) throw new Error(`${module} has ended`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return messages.shift() as T;
    },
  };
};
