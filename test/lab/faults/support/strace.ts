import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Tracing {
  /** System calls to watch, by strace's names. A call with the prefix `?` may not exist on this machine. */
  calls: string[];
  /** Injections in strace's format, e.g. `fdatasync:error=EIO:when=3`. */
  injections?: string[];
  /** Files. If set, only calls on these files are watched and fail. */
  paths?: string[];
  /** Output file of the trace. */
  output: string;
}

/**
 * Returns the `startServer` options that run the server under strace. A single thread makes all file calls, so that
 * they can be counted.
 */
export const createTracing = ({ calls, injections = [], paths = [], output }: Tracing) => ({
  wrapper: [
    ...['strace', '-f', '--seccomp-bpf', '-qq', '-s', '65536', '-e', 'signal=none', '-o', output],
    ...['-e', `trace=${calls.join(',')}`],
    ...injections.flatMap((injection) => ['-e', `inject=${injection}`]),
    ...paths.flatMap((path) => ['-P', path]),
  ],
  variables: { UV_THREADPOOL_SIZE: '1' },
});

/** Lists the paths of a log's files in a data directory, with as many closed segments as a short run creates. */
export const listLogPaths = (dataDir: string, log: string): string[] =>
  [
    ...['jsonl', '00000001.torn', 'state', 'state.new'],
    ...Array.from({ length: 20 }, (_, index) => `${String(index + 1).padStart(8, '0')}.jsonl`),
  ].map((end) => join(dataDir, `${log}.${end}`));

/** Start or end of a system call. */
export interface Moment {
  phase: 'begin' | 'end';
  call: string;
  /** File descriptor: the first argument of the call. */
  fd: number;
  /** Arguments known so far. */
  text: string;
  /** Result. Undefined at the start of a call. */
  result: number | undefined;
  isInjected: boolean;
}

/** Returns the calls in the trace in order. An uninterrupted call starts and ends at the same moment. */
export const readTrace = (path: string): Moment[] => {
  const unfinished = new Map<string, Moment>();
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, thread = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
      const before = unfinished.get(thread);
      const moments = text.startsWith('<... ') && before ? [toEnd(before, text)] : toMoments(text);
      for (const moment of moments) unfinished.set(thread, moment);
      return moments;
    });
};

const toMoments = (text: string): Moment[] => {
  const [, call, fd] = /^(\w+)\((\d*)/.exec(text) ?? [];
  if (call === undefined) return [];
  const begin: Moment = {
    phase: 'begin',
    call,
    fd: Number(fd || -1),
    text,
    result: undefined,
    isInjected: false,
  };
  return text.endsWith('<unfinished ...>') ? [begin] : [begin, toEnd(begin, text)];
};

const toEnd = (begin: Moment, text: string): Moment => {
  const result = /\)\s+= (-?\d+)[^"]*$/.exec(text)?.[1];
  return {
    ...begin,
    phase: 'end',
    result: result === undefined ? undefined : Number(result),
    isInjected: text.endsWith('(INJECTED)'),
  };
};
