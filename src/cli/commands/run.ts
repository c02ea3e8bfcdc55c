import { hostname } from 'node:os';
import { basename } from 'node:path';
import { UsageError } from '../args.ts';
import { toMilliseconds } from '../client/seconds.ts';
import { clientFlags, clientVariables, readServer, type Server, toServerUrl } from '../client/server.ts';
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
    'What the command leaves in the background is waited for 1 second at most, as by a service manager.',
    'If its output cannot be written, as on a full disk, the command has failed: the exit code is then never 0.',
    'If an alert cannot be stored, one line on stderr says so; the exit code stays that of the command.',
  ],
  flags: {
    ...clientFlags,
    source: { ...clientFlags.source, summary: 'Source of the alert. Default: the name of the command.' },
    level: { ...clientFlags.level, summary: `${clientFlags.level.summary} Default ERROR.` },
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
    const [{ deliver }, { runChild }, { OutputTail }] = await Promise.all([
      import('../client/deliver.ts'),
      import('../client/child.ts'),
      import('../client/output-tail.ts'),
    ]);
    const name = basename(program);
    const tail = new OutputTail('key' in server ? server.key : undefined);
    const startedAt = performance.now();
    let endedAt: number | undefined;
    let pending = 0;
    const describeTime = () => `after ${Math.round(((endedAt ?? performance.now()) - startedAt) / 1000)} s`;
    /** Never rejects. */
    const alert = async (what: string): Promise<void> => {
      const message = [`${name} ${what}`, tail.text].filter((part) => part !== '').join(':\n');
      const about = { source: own.source ?? name, level: own.level ?? 'ERROR', message, hostname: hostname() };
      pending++;
      const outcome = 'refused' in server ? server : await deliver(about, server, retryForMs);
      pending--;
      if (!('id' in outcome)) say(`the alert was not stored: ${'refused' in outcome ? outcome.refused : outcome.away}`);
    };
    const alerts: Promise<void>[] = [];
    const timer = timeoutMs && setTimeout(() => alerts.push(alert(`is still running ${describeTime()}`)), timeoutMs);
    const { exitCode, failure, isStarted, drain } = await runChild(words, {
      keep: tail.add,
      ended: () => {
        endedAt = performance.now();
        clearTimeout(timer);
      },
    });
    // A signal now ends the waiting for the server.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => interrupt(pending, exitCode));
    if (failure !== undefined) {
      if (!isStarted) say(`${program} ${failure}`);
      alerts.push(alert(isStarted ? `${failure} ${describeTime()}` : failure));
    }
    await Promise.all(alerts);
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

const interrupt = (pending: number, exitCode: number): never => {
  if (pending > 0) say('the alert was not stored: interrupted');
  process.exit(exitCode);
};
