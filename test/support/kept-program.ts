import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { extension, loader } from './source.ts';

/** Command line to run, in the form that kept-process.ts reads. */
export interface CommandLine {
  args: string[];
  variables: Record<string, string | undefined>;
  cwd: string;
  input: string;
}

/** Output and outcome of a program. */
export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Written to both outputs after each command line. */
export const endMark = '\0end of the output\0';

const limitMs = 30_000;

let kept: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs a command line in a process that has already loaded the program and run earlier command lines. */
export const runInKeptProcess = (line: CommandLine): Promise<Finished> => {
  const finished = last.then(() => runNext(line));
  last = finished.catch(() => undefined);
  return finished;
};

const runNext = (line: CommandLine): Promise<Finished> =>
  new Promise((resolve, reject) => {
    kept ??= start();
    const child = kept;
    const output = { stdout: '', stderr: '' };
    let exitCode: number | undefined;
    const listeners = (['stdout', 'stderr'] as const).map((name) => (text: string): void => {
      output[name] += text;
      if (output.stdout.endsWith(endMark) && output.stderr.endsWith(endMark)) finish();
    });
    const onMessage = (code: number): void => {
      exitCode = code;
      finish();
    };
    const onClose = (code: number | null, signal: NodeJS.Signals | null): void => {
      kept = undefined;
      end();
      resolve({ code, signal, ...output });
    };
    const timer = setTimeout(() => {
      kept = undefined;
      end();
      child.kill('SIGKILL');
      reject(new Error(`signalbox ${line.args.join(' ')} has not ended within ${limitMs / 1000} s`));
    }, limitMs);
    const end = (): void => {
      clearTimeout(timer);
      child.off('message', onMessage).off('close', onClose);
      child.stdout?.off('data', listeners[0] as () => void);
      child.stderr?.off('data', listeners[1] as () => void);
    };
    const finish = (): void => {
      const { stdout, stderr } = output;
      if (exitCode === undefined || !stdout.endsWith(endMark) || !stderr.endsWith(endMark)) return;
      end();
      const [out = '', err = ''] = [stdout, stderr].map((text) => text.slice(0, -endMark.length));
      resolve({ code: exitCode, signal: null, stdout: out, stderr: err });
    };
    child.on('message', onMessage).on('close', onClose);
    child.stdout?.on('data', listeners[0] as () => void);
    child.stderr?.on('data', listeners[1] as () => void);
    child.send(line);
  });

/** Starts the process. It ends with this process and does not keep this process alive. */
const start = (): ChildProcess => {
  const child = fork(fileURLToPath(new URL(`./kept-process${extension}`, import.meta.url)), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: loader,
  });
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    (stream as unknown as { unref(): void }).unref();
  }
  return child;
};
