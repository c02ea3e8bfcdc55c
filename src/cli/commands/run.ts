import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { UsageError } from '../args.ts';
import { toCommandName } from '../client/command-name.ts';
import {
  clientFlags,
  clientVariables,
  readAlertKey,
  readServer,
  type Server,
  toMilliseconds,
  toServerUrl,
} from '../client/server.ts';
import { defineCommand } from '../command.ts';
import { say } from '../messages.ts';

export const runProgram = defineCommand({
  name: 'run',
  argument: { name: '[--] COMMAND [ARGUMENT...]', isList: true },
  summary: 'Run a command, and send an alert if it fails or takes too long.',
  details: [
    'The command runs without a shell. Its input, output and exit code, and signals sent to signalbox, are passed through.',
    'The alert says how the command ended, with the last 20 lines of its output (4 KiB at most), but not its arguments.',
    'After --timeout an alert is sent once, and the command goes on. If it then fails, a second alert is sent.',
    'The first success after a reported failure resolves its alerts. Any other success sends nothing.',
    'What the command leaves in the background is waited for 1 second at most, as by a service manager.',
    'If its output cannot be written, as on a full disk, the command has failed: the exit code is then never 0.',
    'If an alert cannot be stored, one line on stderr says so; the exit code stays that of the command. If the server does not come back in time, or refuses everything, as with a wrong key or address, the alert is kept on disk, and the next send or run delivers it first.',
  ],
  flags: {
    ...clientFlags,
    source: {
      ...clientFlags.source,
      summary: 'Source of the alert. Default: the name of the command, or for sh -c the first words of its script.',
    },
    level: { ...clientFlags.level, summary: `${clientFlags.level.summary} Default ERROR.` },
    key: {
      ...clientFlags.key,
      summary: `${clientFlags.key.summary} Default: SOURCE/HOSTNAME; without --source also a part for the command line.`,
    },
    timeout: { value: 'SECONDS', summary: 'Send an alert, too, if the command takes longer.' },
    retryFor: {
      ...clientFlags.retryFor,
      summary: 'How long to try while the server is away, which delays the exit. Default 60.',
    },
  },
  variables: clientVariables,
  exitCodes: {
    2: 'the command line is invalid; the command was not run',
    126: 'the command is not executable',
    127: 'the command was not found',
    '128+N': 'the command was ended by signal N',
    other: 'the exit code of the command',
  },
  isWrapper: true,
  run: async ({ words, own }) => {
    const [program] = words;
    if (!program) throw new UsageError('run needs a COMMAND; see signalbox run --help');
    const server = readServerOrProblem(own.url);
    const retryForMs = toMilliseconds('retryFor', own.retryFor ?? '60');
    const timeoutMs = own.timeout === undefined ? undefined : toMilliseconds('timeout', own.timeout);
    const name = toCommandName(words);
    const about = { source: own.source ?? name, hostname: hostname() };
    const key =
      own.key === undefined ? toDefaultKey(about, own.source === undefined ? words : []) : readAlertKey(own.key);
    const [{ createRunReport }, { runChild }, { OutputTail }] = await Promise.all([
      import('../client/run-report.ts'),
      import('../client/child.ts'),
      import('../client/output-tail.ts'),
    ]);
    const tail = new OutputTail('key' in server ? server.key : undefined);
    const startedAt = performance.now();
    let endedAt: number | undefined;
    const describeTime = () => `after ${Math.round(((endedAt ?? performance.now()) - startedAt) / 1000)} s`;
    const describe = (what: string) => [`${name} ${what}`, tail.text].filter((part) => part !== '').join(':\n');
    const report = createRunReport(server, { ...about, key, level: own.level ?? 'ERROR' }, retryForMs);
    const timer =
      timeoutMs && setTimeout(() => report.failure(describe(`is still running ${describeTime()}`)), timeoutMs);
    const { exitCode, failure, isStarted, drain } = await runChild(words, {
      keep: tail.add,
      ended: () => {
        endedAt = performance.now();
        clearTimeout(timer);
      },
    });
    // A signal now ends the waiting for the server.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        report.interrupt();
        process.exit(exitCode);
      });
    }
    if (failure === undefined) {
      report.success(`${name} succeeded ${describeTime()}`);
    } else {
      if (!isStarted) say(`${program} ${failure}`);
      report.failure(describe(isStarted ? `${failure} ${describeTime()}` : failure));
    }
    await report.finish();
    await drain();
    return exitCode;
  },
});

/** The server, or, for variables that are invalid, why there is none: they must not stop the command. */
const readServerOrProblem = (flag: string | undefined): Server | { refused: string } => {
  if (flag !== undefined) toServerUrl(flag, '--url');
  try {
    return readServer(flag);
  } catch (error) {
    return { refused: (error as UsageError).message };
  }
};

const longestKey = 256;

/** The command line, where it is given, tells commands apart that have the same name. */
const toDefaultKey = (
  { source, hostname: host }: { source: string; hostname: string },
  words: readonly string[],
): string => {
  const parts = words.length === 0 ? [source, host] : [source, host, toHash(JSON.stringify(words)).slice(0, 8)];
  const key = parts.join('/');
  return key.length <= longestKey ? key : toHash(key);
};

const toHash = (text: string): string => createHash('sha256').update(text).digest('hex');
