import { fstatSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { scopes } from '../auth/rights.ts';
import { isSettingsError, SettingsError } from '../config/settings-error.ts';
import type { Tool } from '../kit/feature.ts';
import type { Counts } from '../server/transfer.ts';
import { agentCommand } from './agent/command.ts';
import { readChoice, UsageError } from './args.ts';
import { type Command, type CommandInput, defineCommand } from './command.ts';
import { endProgress, showProgress } from './progress.ts';
import { alertsCommand } from './remote/alerts.ts';
import { completionCommand } from './remote/completion.ts';
import { healthcheckCommand } from './remote/healthcheck.ts';
import { heartbeatsCommand } from './remote/heartbeats.ts';
import { addHostCommand, hostCommand, hostsCommand } from './remote/hosts.ts';
import { importChecksCommand } from './remote/import/checks.ts';
import { importOncallCommand } from './remote/import/oncall.ts';
import {
  ackCommand,
  addRespondersCommand,
  escalateCommand,
  incidentCommand,
  incidentsCommand,
  resolveCommand,
  takeOverCommand,
} from './remote/incidents.ts';
import { oncallCommand } from './remote/oncall.ts';
import { runProgram } from './remote/run.ts';
import { sendCommand } from './remote/send.ts';
import { silenceCommand, silencesCommand } from './remote/silences.ts';
import { taskCommand, tasksCommand } from './remote/tasks.ts';
import { watchesCommand } from './remote/watches.ts';
import { escapeControls, escapeLines, print, protectOutput, say } from './stdio.ts';
import { loadTexts } from './texts.ts';

/** Default command: starts the server. */
export const serve = defineCommand({
  name: 'serve',
  summary: 'Start the server.',
  settings: 'all',
  run: async ({ flags }) => {
    const { loadServer, schema } = await import('./program.ts');
    const { serveUntilStopped } = await loadServer();
    await serveUntilStopped(schema, flags);
    return undefined;
  },
});

const demoCommand = defineCommand({
  name: 'demo',
  summary: 'Run a one-minute demo: a real server with simulated senders, deleted afterwards.',
  details: [
    "Starts a server on a free local port, with a temporary folder. Prints the console's URL, the login, and each event.",
    'Incidents open, escalate and are resolved. A heartbeat is late. A disk fills up: the demo writes 16 MiB for a few seconds, and a watch fires when free space has dropped by 8 MiB.',
    'Ctrl+C ends the demo and deletes the folder. Environment variables and config files are ignored.',
  ],
  run: async () => {
    const { loadDemo, schema } = await import('./program.ts');
    const { runDemo } = await loadDemo();
    return runDemo(schema);
  },
});

const checkConfig = defineCommand({
  name: 'check-config',
  argument: { name: 'FILE' },
  summary: 'Check a config file without starting the server.',
  details: [
    'Reports every setting that would prevent startup. Opens neither the port nor the data directory.',
    'Compares a database with the settings, without changing the database: the output lists the changes that the next start will make.',
    'An unreachable database is only a warning, because the server waits for the database on startup.',
  ],
  settings: 'all',
  run: async ({ words: [file = ''], flags }) => {
    if (flags['config'] !== undefined) {
      throw new UsageError('check-config takes the file as its argument: remove --config');
    }
    const { loadServer, schema } = await import('./program.ts');
    const { check } = await loadServer();
    const plans = await check(schema, { ...flags, config: file });
    return print([`${escapeControls(file)} is valid`, ...plans, ''].join('\n'));
  },
});

const configSchema = defineCommand({
  name: 'config-schema',
  summary: 'Print the JSON Schema of the config file, for editors.',
  run: async () => print(loadTexts().configSchema),
});

/**
 * Creates a key for a program that cannot log in. Prints the key once, on stderr. Stdout gets only the entry for `keys`
 * in the config file, so that it can be redirected.
 */
const createKey = defineCommand({
  name: 'create-key',
  argument: { name: 'NAME' },
  summary: 'Print a new key for a program that cannot log in, and its entry for the setting keys.',
  flags: {
    scope: {
      value: 'SCOPE',
      isList: 'repeated',
      summary: 'Scope of the key; repeat the flag for several scopes.',
      choices: scopes,
    },
  },
  run: async ({ words: [name = ''], own: { scope: asked = [] } }) => {
    const { createAccessKey, isKeyName } = await import('./program.ts');
    const unknown = asked.find((one) => !scopes.some((scope) => scope === one));
    if (asked.length === 0 || unknown !== undefined) {
      const found = unknown === undefined ? '' : `, not ${JSON.stringify(unknown)}`;
      throw new UsageError(`create-key needs --scope with one or more of ${scopes.join(', ')}${found}`);
    }
    if (!isKeyName(name)) {
      throw new UsageError(`NAME must not be empty or contain control characters: ${JSON.stringify(name)}`);
    }
    const { key, entry } = createAccessKey(
      name,
      scopes.filter((scope) => asked.includes(scope)),
    );
    process.stderr.write(
      `Key of ${name}, shown only once: ${key}\nAdd this entry to keys in the config file, then send SIGHUP to the server:\n`,
    );
    return print(`${JSON.stringify(entry)}\n`);
  },
});

const hashPasswordCommand = defineCommand({
  name: 'hash-password',
  summary: 'Hash a password from a prompt or standard input, for the setting users.',
  run: async () => {
    const { printPasswordHash } = await import('./program.ts');
    await printPasswordHash({ input: process.stdin, output: process.stdout, messages: process.stderr });
    return undefined;
  },
});

const createUserCommand = defineCommand({
  name: 'create-user',
  argument: { name: 'NAME' },
  summary: 'Create a user, with a password from a prompt or standard input.',
  details: [
    'Stores the user in the data directory or in the database. A server that uses the data directory must be stopped first; servers that use the database find the user within a second.',
  ],
  settings: 'all',
  flags: {
    role: { value: 'ROLE', summary: 'Role of the user. Default Admin.', choices: ['Admin', 'Reader'] },
  },
  exitCodes: { 0: 'success', 1: 'the user was not stored', 2: 'the command line is invalid' },
  run: async ({ words: [name = ''], own: { role: given = 'Admin' }, flags }) => {
    const { createLog, createUser, loadSettings, readNewPassword, roles, schema } = await import('./program.ts');
    const role = readChoice('--role', given, roles);
    const settings = loadSettings(schema, flags);
    const password = await readNewPassword({ input: process.stdin, messages: process.stderr }, true);
    await createUser(settings, { name, role, password }, createLog('error'));
    say(`user ${name} can log in`);
    return 0;
  },
});

const exportCommand = defineCommand({
  name: 'export',
  summary: 'Print the store as JSON lines, with all records, hosts and runtime settings; stop the server first.',
  details: [
    'An export contains secrets: if standard output is a file, export makes the file readable only by its owner.',
  ],
  settings: 'all',
  flags: {
    withoutReadings: { summary: 'Leave out readings of hosts: up to 15,000 lines for each host.' },
  },
  exitCodes: {
    0: 'success',
    1: 'the store cannot be read, or a damaged part was skipped',
    2: 'the command line is invalid',
  },
  run: async ({ own: { withoutReadings = false }, flags }) => {
    const { exportLines, listTransfers, loadSettings, schema } = await import('./program.ts');
    const transfers = listTransfers({ hasReadings: !withoutReadings });
    const counts: Counts = {};
    let isWhole = true;
    protectOutput();
    const pieces = exportLines(loadSettings(schema, flags), transfers, counts, {
      onProblem: (problem) => {
        isWhole = false;
        say(`skipped a damaged part: ${problem}`);
      },
      onProgress: (done, total) => showProgress('Exporting', done, total),
    });
    try {
      await pipeline(Readable.from(pieces), process.stdout, { end: false });
    } catch (error) {
      if (isSettingsError(error)) throw error;
      throw new SettingsError([`the export could not be written: ${(error as Error).message}`]);
    } finally {
      endProgress();
    }
    say(`exported ${describeCounts(counts)}`);
    return isWhole ? 0 : 1;
  },
});

const importCommand = defineCommand({
  name: 'import',
  summary: 'Import the output of export from standard input into an empty store.',
  settings: 'all',
  exitCodes: { 0: 'success', 1: 'nothing was stored', 2: 'the command line is invalid' },
  run: async ({ flags }) => {
    const { importLines, listTransfers, loadSettings, schema } = await import('./program.ts');
    const settings = loadSettings(schema, flags);
    const counts = await importLines(settings, listTransfers(), readWithProgress()).finally(endProgress);
    say(`imported ${describeCounts(counts)}`);
    return undefined;
  },
});

/** Reads standard input. Shows progress if the input is a file. */
async function* readWithProgress(): AsyncGenerator<Buffer> {
  const { fd } = process.stdin as { fd?: number };
  const size = fd === undefined ? 0 : fstatSync(fd).size;
  let done = 0;
  for await (const chunk of process.stdin) {
    done += chunk.length;
    showProgress('Importing', done, size > 0 ? size : undefined);
    yield chunk;
  }
}

const describeCounts = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([key]) => !key.startsWith('last'))
    .map(([key, count]) => `${key} ${count}`)
    .join(', ') || 'nothing';

const manPage = defineCommand({
  name: 'man-page',
  summary: 'Print the manual page signalbox(1), for man.',
  run: async () => print(loadTexts().manPage),
});

/** Commands of the program itself, in help order. */
export const ownCommands: readonly Command[] = [
  serve,
  demoCommand,
  agentCommand,
  sendCommand,
  runProgram,
  alertsCommand,
  incidentsCommand,
  incidentCommand,
  ackCommand,
  takeOverCommand,
  addRespondersCommand,
  escalateCommand,
  resolveCommand,
  oncallCommand,
  importOncallCommand,
  silencesCommand,
  silenceCommand,
  tasksCommand,
  taskCommand,
  watchesCommand,
  heartbeatsCommand,
  addHostCommand,
  importChecksCommand,
  hostsCommand,
  hostCommand,
  healthcheckCommand,
  checkConfig,
  configSchema,
  createKey,
  createUserCommand,
  hashPasswordCommand,
  exportCommand,
  importCommand,
  completionCommand,
  manPage,
];

/** Loads and lists all commands, including the commands of features. */
export const listCommands = async (): Promise<Command[]> => {
  const { features } = await import('./program.ts');
  const tools = features.flatMap((feature) => feature.tools ?? []);
  return [...ownCommands, ...tools.map(toCommand)];
};

const toCommand = ({ name, argument, summary, run }: Tool): Command =>
  defineCommand({
    name,
    argument,
    summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    settings: 'all',
    run: async ({ words: [text = ''], flags }: CommandInput) => {
      const { loadSettings, schema } = await import('./program.ts');
      const { output, ok } = await run(text, () => loadSettings(schema, flags));
      print(`${escapeLines(output)}\n`);
      return ok ? 0 : 1;
    },
  });
