import closeWithGrace from 'close-with-grace';
import { basePath, listNames } from '../app/mounts/resolve.ts';
import { version } from '../app/package-info.ts';
import { type Flags, loadSettings } from '../config/load.ts';
import { createSettingsSchema, toFileSchema } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import { suggest } from '../config/suggest.ts';
import type { Tool } from '../profiles/feature.ts';
import { features } from '../profiles/index.ts';
import { parseArguments, UsageError } from './args.ts';
import { checkConfig } from './check-config.ts';
import { printKey } from './create-key.ts';
import { printPasswordHash } from './hash-password.ts';
import { escapeControls } from './log.ts';
import { serve } from './serve.ts';
import { printExport, readImport } from './transfer.ts';
import { createUsage } from './usage.ts';

/** Milliseconds for running requests to finish during shutdown. */
const gracePeriod = 10_000;

const schema = createSettingsSchema(features.map(({ settings }) => settings));

const profiles = features.flatMap((feature) => feature.profiles);

const mountRules = { profiles: listNames(profiles), basePath };

const tools = features.flatMap((feature) => feature.tools ?? []);

/** Runs the command line. Resolves to the exit code of a failure, or to undefined. */
export const run = async (argv: string[]): Promise<number | undefined> => {
  try {
    await runCommand(argv);
    return undefined;
  } catch (error) {
    // Ctrl+C at the password prompt needs no message.
    if ((error as Error).name === 'AbortError') return 130;
    if (error instanceof UsageError) return report(error.problems, 'on the command line', 2);
    if (error instanceof SettingsError) return report(error.problems, 'in the settings', 1);
    throw error;
  }
};

/** Prints the problems, then resolves to the exit code: exiting during the write would cut off a long list. */
const report = async (problems: readonly string[], where: string, exitCode: number): Promise<number> => {
  const text = `signalbox: ${listProblems(problems.map(escapeControls), where)}\n`;
  await new Promise((resolve) => process.stderr.once('error', resolve).write(text, resolve));
  return exitCode;
};

/** One problem stays on the same line; several follow below, one per line. */
const listProblems = (problems: readonly string[], where: string): string =>
  problems.length === 1
    ? `${problems[0]}`
    : [`${problems.length} problems ${where}:`, ...problems.map((problem) => `  ${problem}`)].join('\n');

const runCommand = async (argv: string[]): Promise<void> => {
  const { words, flags, scopes } = parseArguments(argv, schema);
  if (flags['help']) return print(createUsage(schema, features));
  if (flags['version']) return print(`${version}\n`);
  const [command = 'serve', ...rest] = words;
  const tool = tools.find(({ name }) => name === command);
  if (tool) return runTool(tool, rest, flags);
  if (scopes.length > 0 && command !== 'create-key') throw new UsageError('--scope belongs to create-key');
  if (command === 'check-config') return runCheck(rest, flags);
  if (command === 'create-key') return printKey(rest, scopes, { output: process.stdout, messages: process.stderr });
  if (!commands.includes(command)) {
    throw new UsageError(`there is no command ${JSON.stringify(command)}${adviseCommand(command)}`);
  }
  if (rest.length > 0) throw new UsageError(`${command} takes no arguments; see signalbox --help`);
  switch (command) {
    case 'hash-password':
      return printPasswordHash({ input: process.stdin, output: process.stdout, messages: process.stderr });
    case 'config-schema':
      return print(`${JSON.stringify(toFileSchema(schema, mountRules), null, 2)}\n`);
    case 'export':
      process.exitCode = (await printExport(loadSettings(schema, flags))) ? 0 : 1;
      return;
    case 'import':
      return readImport(loadSettings(schema, flags));
    default:
      return runServer(flags);
  }
};

const commands = [
  'serve',
  'check-config',
  'create-key',
  'hash-password',
  'config-schema',
  'export',
  'import',
  ...tools.map(({ name }) => name),
];

const adviseCommand = (command: string): string => suggest(command, commands, '"') || '; see signalbox --help';

const print = (text: string): void => {
  process.stdout.write(text);
};

const runTool = async ({ name, argument, run: use }: Tool, words: string[], flags: Flags): Promise<void> => {
  const [text] = words;
  if (text === undefined || words.length > 1) {
    throw new UsageError(`${name} takes one ${argument}, in quotes; see signalbox --help`);
  }
  const { output, ok } = await use(text, () => loadSettings(schema, flags));
  print(`${output}\n`);
  process.exitCode = ok ? 0 : 1;
};

const runCheck = async ([file, ...others]: string[], flags: Flags): Promise<void> => {
  if (file === undefined || others.length > 0)
    throw new UsageError('check-config takes one FILE; see signalbox --help');
  if (flags['config'] !== undefined)
    throw new UsageError('check-config takes its file without --config: remove the flag');
  await checkConfig(schema, { ...flags, config: file });
  print(`${escapeControls(file)} is valid\n`);
};

const runServer = async (flags: Flags): Promise<void> => {
  const { server, log, message, reload } = await serve(schema, flags);
  // In a terminal, SIGHUP means the window was closed, so the server stops.
  const reloads = !process.stdin.isTTY;
  closeWithGrace({ delay: gracePeriod, logger: log, skip: reloads ? ['SIGHUP'] : [] }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'unexpected error');
    log.info({ signal }, 'shutting down');
    await server.close();
  });
  if (reloads) process.on('SIGHUP', reload);
  // Printed only after signal handlers are installed: readers of the address may also stop the server.
  print(message);
};
