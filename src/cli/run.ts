import { version } from '../app/package-info.ts';
import type { Flags } from '../config/load.ts';
import { suggest } from '../config/names.ts';
import { isSettingsError } from '../config/settings-error.ts';
import {
  commonFlags,
  findWord,
  isUsageError,
  type KnownFlag,
  listOwnFlags,
  listUnknownFlags,
  parseFlags,
  splitWrapped,
  UsageError,
} from './args.ts';
import { type Command, helpOf, type Input } from './command.ts';
import { commands, listCommands } from './commands/index.ts';
import { serve } from './commands/serve.ts';
import { escapeControls, flush, print } from './messages.ts';

/** Runs the command line. Resolves to an exit code with which to end, or to undefined if the process ends by itself. */
export const run = async (argv: string[]): Promise<number | undefined> => {
  const exitCode = await runCommand(argv).catch((error) => {
    // Ctrl+C at the password prompt needs no message.
    if (error.name === 'AbortError') return 130;
    if (isUsageError(error)) return report(error.problems, 'on the command line', 2);
    if (isSettingsError(error)) return report(error.problems, 'in the settings', 1);
    throw error;
  });
  if (exitCode !== undefined) await flush();
  return exitCode;
};

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

const runCommand = async (argv: string[]): Promise<number | undefined> => {
  if (argv.join(' ') === '--version') return void print(`${version}\n`);
  const { command, args } = await findCommand(argv);
  const known = [...commonFlags, ...listOwnFlags(command), ...(await listSettingFlags(command))];
  const [own, wrapped] = command.isWrapper ? splitWrapped(args, known) : [args, []];
  await refuseUnknown(own, command, known);
  const { words, values } = parseFlags(own, known, helpOf(command));
  if (values['help']) return printHelp(command);
  if (values['version']) return void print(`${version}\n`);
  const flags = values as Flags & Input['own'];
  return command.run({ words: toWords([...words, ...wrapped], command), own: flags, flags, listCommands });
};

/** The command of a command line, and the rest of it. Flags may stand before the command. */
const findCommand = async (argv: string[]): Promise<{ command: Command; args: string[] }> => {
  const known = argv[0]?.startsWith('-') ? await listAllFlags() : [];
  const index = findWord(argv, known);
  const name = index === undefined ? undefined : argv[index];
  if (index === undefined || name === undefined) return { command: serve, args: argv };
  const all = commands.some((one) => one.name === name) ? commands : await listCommands();
  const command = all.find((one) => one.name === name);
  if (command) return { command, args: argv.toSpliced(index, 1) };
  // A flag before it may be the mistake.
  if (known.length > 0) {
    await refuseUnknown(argv, serve, known);
    parseFlags(argv, known, helpOf(serve));
  }
  const names = all.map((one) => one.name);
  const advice = suggest(name, names, '"') || '; see signalbox --help';
  throw new UsageError(`there is no command ${JSON.stringify(name)}${advice}`);
};

/** The flags of all commands together: only they say which words are values. */
const listAllFlags = async (): Promise<KnownFlag[]> => {
  const { settingFlags } = await import('./program.ts');
  return [...commonFlags, ...commands.flatMap(listOwnFlags), ...settingFlags];
};

const listSettingFlags = async ({ settings = [] }: Command): Promise<readonly KnownFlag[]> => {
  if (settings === 'all') return (await import('./program.ts')).settingFlags;
  return settings.length === 0 ? [] : (await import('./setting-flags.ts')).pickSettingFlags(settings);
};

const refuseUnknown = async (args: string[], command: Command, known: readonly KnownFlag[]): Promise<void> => {
  const unknown = listUnknownFlags(args, known);
  if (unknown.length === 0) return;
  const { parts } = await import('./program.ts');
  const { explainUnknownFlag } = await parts.unknownFlags();
  const all = await listCommands();
  throw new UsageError(...unknown.map((flag) => explainUnknownFlag(flag, command, known, all)));
};

/** The words, which must be as many as the command takes. */
const toWords = (words: string[], command: Command): string[] => {
  const { name, argument } = command;
  if (argument?.isList) return words;
  if (argument === undefined && words.length > 0)
    throw new UsageError(`${name} takes no arguments; see ${helpOf(command)}`);
  if (argument === undefined || (words.length === 1 && words[0] !== '')) return words;
  const quotes = argument.isQuoted ? ', in quotes' : '';
  throw new UsageError(`${name} takes one ${argument.name}${quotes}; see ${helpOf(command)}`);
};

const printHelp = async (command: Command): Promise<undefined> => {
  if (command !== serve) return void print((await import('./help/command-help.ts')).createCommandHelp(command));
  const { features, parts, schema } = await import('./program.ts');
  const { createUsage } = await parts.usage();
  print(createUsage(await listCommands(), schema, features));
};
