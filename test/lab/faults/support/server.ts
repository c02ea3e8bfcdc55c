import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../../../src/server/package-info.ts';
import { waitUntil } from '../../../support/wait.ts';
import { atExit } from './exit.ts';
import { alerts, type Kept } from './kept.ts';

const main = join(packageRoot, 'dist', 'signalbox.js');

interface Options {
  dataDir: string;
  /** Records that the server stores. Default: alerts. */
  kept?: Kept;
  /** Flags in addition to the flags of every fault test. */
  flags?: string[];
  /** Program that runs the server, e.g. `['eatmydata']` or `['strace', '-f', …]`. */
  wrapper?: string[];
  variables?: Record<string, string>;
  /** Milliseconds after which the server is killed, ready or not. */
  killAfter?: number;
  /** Called with stderr if the server exits before it listens. */
  onRefusal?(stderr: string): void;
}

export interface FaultServer {
  url: string;
  child: ChildProcess;
  /** Process id of the server itself, even under a wrapper. */
  pid: number;
  stderr(): string;
  /** Resolves to the exit code, or to the signal that ended the server. */
  ended: Promise<number | string>;
}

/** Starts the built program. Resolves to undefined if it exits before it listens. */
export const startServer = async ({
  dataDir,
  kept = alerts,
  flags = [],
  wrapper = [],
  variables = {},
  killAfter,
  onRefusal,
}: Options): Promise<FaultServer | undefined> => {
  // Refusals by an overloaded machine are not tested here.
  const patience = ['--max-event-loop-delay', '0'];
  const common = [main, '--port', '0', ...kept.flags, '--data-dir', dataDir];
  const serverArgs = [...common, ...patience, ...flags];
  const [program = process.execPath, ...args] = [...wrapper, process.execPath, ...serverArgs];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], SIGNALBOX_DEFAULT_WATCHES: 'false', ...variables },
    killSignal: 'SIGKILL',
    ...(killAfter !== undefined && { timeout: killAfter }),
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const forget = atExit(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code, signal]) => {
    forget();
    return code ?? signal;
  });
  const url = await Promise.race([readAddress(child), ended.then(() => undefined)]);
  if (url === undefined) {
    onRefusal?.(stderr);
    return undefined;
  }
  const readPid = () => /"pid":(\d+)/.exec(stderr)?.[1];
  // Under a wrapper, only the log has the server's own process id.
  if (wrapper.length > 0) await waitUntil('the log names the process', () => readPid() !== undefined);
  const pid = Number(readPid() ?? child.pid);
  return { url, child, pid, stderr: () => stderr, ended };
};

const readAddress = async (child: ChildProcess): Promise<string> => {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    const address = /listens on (\S+)\n/.exec(text)?.[1];
    if (address) {
      child.stdout?.resume();
      return address;
    }
  }
  return new Promise(() => {});
};
