import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { say } from '../stdio.ts';
import {
  createPendingAlert,
  deliverKept,
  explainUnsent,
  keepAlert,
  type PendingAlert,
  type SentAlert,
  sendAlert,
} from './alert-sender.ts';
import { createHeartbeatReport, type RunReport, readAddress } from './heartbeat.ts';
import {
  type AlertServer,
  clientFlags,
  clientVariables,
  readProblemName,
  readServer,
  toMilliseconds,
  toServerUrl,
} from './server.ts';
import { StateFolder, tolerate } from './state-folder.ts';

export const runProgram = defineCommand({
  name: 'run',
  argument: { name: '[--] COMMAND [ARGUMENT...]', isList: true },
  summary: 'Run a command, and send an alert if it fails or takes too long.',
  details: [
    'The command runs without a shell. Its input, output and exit code, and signals sent to signalbox, are passed through.',
    'The alert contains the exit code or signal, and the last 20 lines of output (4 KiB at most), but not the arguments.',
    'With --timeout, signalbox also sends one alert if the command runs too long; the command continues. If the command then fails, a second alert follows.',
    'The first success after a reported failure resolves its alerts. Any other success sends nothing.',
    'signalbox waits at most 1 second for processes that the command leaves in the background.',
    'A command whose output cannot be written, for example on a full disk, counts as failed: the exit code is never 0.',
    "If an alert cannot be stored, one line on stderr says so, and the exit code is still the command's. If the server stays unreachable, or refuses all requests, for example because of a wrong key or URL, the alert is kept on disk; the next send or run delivers the alert first.",
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
      summary: `${clientFlags.key.summary} Default: SOURCE/HOSTNAME; without --source also a hash of the command line.`,
    },
    heartbeat: {
      value: 'ADDRESS',
      summary:
        "Report the command's start and end to this heartbeat, given by UUID or name, instead of sending alerts.",
    },
    timeout: {
      value: 'SECONDS',
      isNumber: true,
      summary: 'Seconds after which a command that is still running sends an alert.',
    },
    retryFor: {
      ...clientFlags.retryFor,
      summary: 'Seconds to retry while the server is unreachable, which delays the exit. Default 60.',
    },
  },
  variables: clientVariables,
  exitCodes: {
    2: 'the command line is invalid; the command was not run',
    126: 'the command could not be started',
    127: 'the command was not found',
    '128+N': 'the command was ended by signal N',
    other: 'the exit code of the command',
  },
  isWrapper: true,
  run: async ({ words, own, isFolderGone }) => {
    const [program] = words;
    if (!program) throw new UsageError('run needs a COMMAND; see signalbox run --help');
    const server = readServerOrProblem(own.url, own.dataDir);
    const address = own.heartbeat === undefined ? undefined : readAddress(own.heartbeat);
    if (address !== undefined && own.timeout !== undefined) {
      throw new UsageError(
        '--timeout works only with alerts: with --heartbeat, set maxRunMinutes of the heartbeat instead',
      );
    }
    const retryForMs = toMilliseconds('retryFor', own.retryFor ?? '60');
    const timeoutMs = own.timeout === undefined ? undefined : toMilliseconds('timeout', own.timeout);
    const name = toCommandName(words);
    const about = { source: own.source ?? name, hostname: hostname() };
    const key =
      own.key === undefined ? toDefaultKey(about, own.source === undefined ? words : []) : readProblemName(own.key);
    const { OutputTail, runWrapped, toUnstarted } = await import('./child.ts');
    const tail = new OutputTail('key' in server ? server.key : undefined);
    const startedAt = performance.now();
    let endedAt: number | undefined;
    const describeTime = () => `after ${Math.round(((endedAt ?? performance.now()) - startedAt) / 1000)} s`;
    const describe = (what: string) => [`${name} ${what}`, tail.text].filter((part) => part !== '').join(':\n');
    const createReport = (to: AlertServer): RunReport =>
      address === undefined
        ? createAlertReport(to, { ...about, key, level: own.level ?? 'ERROR' }, retryForMs)
        : createHeartbeatReport(to, address, retryForMs);
    const report = 'refused' in server ? createMuteReport(server.refused) : createReport(server);
    const timer = timeoutMs && setTimeout(() => report.late(describe(`is still running ${describeTime()}`)), timeoutMs);
    const ended = (): void => {
      endedAt = performance.now();
      clearTimeout(timer);
    };
    // In another directory, relative paths would mean other files.
    if (isFolderGone) ended();
    const { exitCode, failure, isStarted, drain } = isFolderGone
      ? toUnstarted('the working directory was deleted')
      : await runWrapped(words, { keep: tail.add, ended });
    // From here on, a signal ends the wait for the server.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        report.interrupt();
        process.exit(exitCode);
      });
    }
    if (failure !== undefined && !isStarted) say(`${program} ${failure}`);
    const how = isStarted ? `${failure ?? 'succeeded'} ${describeTime()}` : (failure ?? '');
    report.end({ exitCode, isFailure: failure !== undefined, title: `${name} ${how}`, text: describe(how) });
    await report.finish();
    await drain();
    return exitCode;
  },
});

/**
 * Returns the server, or the reason why the variables are invalid, because invalid variables must not stop the wrapped
 * command.
 */
const readServerOrProblem = (flag: string | undefined, dataDir?: string): AlertServer | { refused: string } => {
  if (flag !== undefined) toServerUrl(flag, '--url');
  try {
    return readServer(flag, dataDir);
  } catch (error) {
    return { refused: (error as UsageError).message };
  }
};

const shells = new Set(['sh', 'ash', 'bash', 'dash', 'ksh', 'zsh', 'fish']);

/** Maximum number of words from a script in the name of the command. */
const maxWords = 3;

/**
 * Returns a readable name for a command. Usually this is its program. For a shell, it is the file that the shell runs,
 * or the first words of `-c` before any flag, quote or variable.
 */
export const toCommandName = ([program = '', ...args]: readonly string[]): string => {
  const name = basename(program);
  if (!shells.has(name)) return name;
  const first = args.findIndex((arg) => !arg.startsWith('-'));
  const script = args[first];
  if (script === undefined) return name;
  if (!args.slice(0, first).some((flag) => /^-[a-z]*c[a-z]*$/.test(flag))) return basename(script);
  const words = script.trim().split(/\s+/).slice(0, maxWords);
  const end = words.findIndex((word) => !/^[\w./:@%+,][\w./:@%+,-]*$/.test(word));
  const [command = '', ...others] = end < 0 ? words : words.slice(0, end);
  return [basename(command), ...others].join(' ') || name;
};

const longestKey = 256;

/**
 * Returns the default key. If given, the command line is part of the key, to distinguish commands with the same name.
 */
const toDefaultKey = (about: { source: string; hostname: string }, words: readonly string[]): string => {
  const line = words.length === 0 ? [] : [toHash(JSON.stringify(words)).slice(0, 8)];
  const key = [about.source, about.hostname, ...line].join('/');
  return key.length <= longestKey ? key : toHash(key);
};

const toHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Commands whose last run was reported to a server as a failure. */
const failedRuns = new StateFolder('failed-runs');

/** Reports the runs of one command as alerts with the same key. A failed report never stops the command. */
const createAlertReport = (
  server: AlertServer,
  about: Required<Pick<SentAlert, 'source' | 'hostname' | 'key' | 'level'>>,
  retryForMs: number,
): RunReport => {
  const url = server.url.href;
  const file = `${toHash(`${url}\n${about.key}`).slice(0, 32)}.json`;
  const pending = new Set<PendingAlert>();
  /** Settles when the previous alert has been sent, because alerts are sent one at a time. */
  let turn: Promise<unknown> = Promise.resolve();
  /** Alert with the run's current state. */
  let last: SentAlert | undefined;
  /** Called once an alert has been sent or kept. */
  const note = ({ status }: SentAlert): void => {
    if (status === 'firing') {
      const text = JSON.stringify({ url, key: about.key });
      tolerate('a later success will not resolve the alert', () => failedRuns.write(file, text));
    } else {
      tolerate('the next success sends the resolution again', () => failedRuns.remove(file));
    }
  };
  const send = (alert: SentAlert): void => {
    last = alert;
    const one = createPendingAlert(alert, retryForMs);
    pending.add(one);
    turn = turn.then(async () => {
      const sent = await sendAlert(one, server);
      pending.delete(one);
      if (!('id' in sent)) say(explainUnsent(sent));
      if ('id' in sent || sent.isKept) note(alert);
    });
  };
  const fail = (message: string): void => send({ ...about, message, status: 'firing' });
  return {
    late: fail,
    end: ({ isFailure, title, text }) => {
      if (isFailure) return fail(text);
      // Also resolves alerts about the previous run.
      const isOver = last !== undefined || tolerate('an earlier alert is not resolved', () => failedRuns.has(file));
      if (isOver) send({ ...about, level: 'INFO', message: title, status: 'resolved' });
      else turn = deliverKept(server, performance.now());
    },
    interrupt: () => {
      if (pending.size === 0) return;
      const keepings = [...pending].map((one) => keepAlert(one, server));
      const keeping = keepings.find(({ isKept }) => !isKept) ?? { isKept: true };
      if (last && keeping.isKept) note(last);
      say(explainUnsent({ reason: 'interrupted', ...keeping }));
    },
    finish: () => turn,
  };
};

/** Creates a report that sends nothing, for a run without a usable server. */
const createMuteReport = (reason: string): RunReport => {
  const fail = (): void =>
    say(explainUnsent({ reason, isKept: false, lost: 'the settings contain no usable server URL' }));
  return {
    late: fail,
    end: ({ isFailure }) => {
      if (isFailure) fail();
    },
    interrupt: () => undefined,
    finish: async () => undefined,
  };
};
