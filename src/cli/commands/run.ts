import { hostname } from 'node:os';
import { basename } from 'node:path';
import { UsageError } from '../args.ts';
import { toMilliseconds } from '../client/seconds.ts';
import { clientFlags, clientVariables, readServer } from '../client/server.ts';
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
    'If an alert cannot be stored, one line on stderr says so; the exit code stays that of the command.',
  ],
  flags: {
    ...clientFlags,
    source: { ...clientFlags.source, summary: 'Source of the alert. Default: the name of the command.' },
    level: { ...clientFlags.level, summary: 'Level of the alert, any text. Default ERROR.' },
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
    const server = readServer(own.url);
    const retryForMs = toMilliseconds('retryFor', own.retryFor ?? '60');
    const timeoutMs = own.timeout === undefined ? undefined : toMilliseconds('timeout', own.timeout);
    const [{ deliver }, { runChild }, { OutputTail }] = await Promise.all([
      import('../client/deliver.ts'),
      import('../client/child.ts'),
      import('../client/output-tail.ts'),
    ]);
    const name = basename(program);
    const tail = new OutputTail();
    const startedAt = performance.now();
    /** Never rejects. */
    const alert = async (what: string): Promise<void> => {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      const message = [`${name} ${what} after ${seconds} s`, tail.text].filter((part) => part !== '').join(':\n');
      const about = { source: own.source ?? name, level: own.level ?? 'ERROR', message, hostname: hostname() };
      const outcome = await deliver(about, server, retryForMs);
      if (!('id' in outcome)) say(`the alert was not stored: ${'refused' in outcome ? outcome.refused : outcome.away}`);
    };
    const alerts: Promise<void>[] = [];
    const timer = timeoutMs && setTimeout(() => alerts.push(alert('is still running')), timeoutMs);
    const { exitCode, failure } = await runChild(words, tail.add);
    clearTimeout(timer);
    // A signal now ends the waiting for the server.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(exitCode));
    if (failure !== undefined) {
      if (exitCode === 126 || exitCode === 127) say(`${program} ${failure}`);
      alerts.push(alert(failure));
    }
    await Promise.all(alerts);
    return exitCode;
  },
});
