import type { Flags } from '../config/load.ts';
import { suggest } from '../config/names.ts';
import { isSettingsError } from '../config/settings-error.ts';
import { programVersion } from '../server/package-info.ts';
import {
  commonFlags,
  explainUnknownFlag,
  findWord,
  isUsageError,
  listOwnFlags,
  listSettingFlags,
  listUnknownFlags,
  parseFlags,
  splitWrapped,
  UsageError,
} from './args.ts';
import { type Command, type CommandInput, helpOf, type NamedFlag } from './command.ts';
import { listCommands, ownCommands, serve } from './commands.ts';
import { escapeControls, flush, print } from './stdio.ts';
import { loadTexts } from './texts.ts';

/**
 * Runs the command line. `isFolderGone`: the initial working directory no longer exists. Resolves to the exit code for
 * the process, or to undefined if the process ends by itself.
 */
export const run = async (argv: string[], isFolderGone = false): Promise<number | undefined> => {
  const exitCode = await runCommand(argv, isFolderGone).catch((error) => {
    // Ctrl+C at the password prompt needs no message.
    if (error.name === 'AbortError') return 130;
    if (isUsageError(error)) return report(error.problems, 'on the command line', 2);
    if (isSettingsError(error)) return report(error.problems, 'in the settings', 1);
    throw error;
  });
  if (exitCode !== undefined) await flush();
  return exitCode;
};

/** Prints one problem on the same line as the prefix, or several problems on the lines below. */
const report = async (problems: readonly string[], where: string, exitCode: number): Promise<number> => {
  const lines = problems.map(escapeControls);
  const list = lines.length === 1 ? lines : [`${lines.length} problems ${where}:`, ...lines.map((line) => `  ${line}`)];
  const text = `signalbox: ${list.join('\n')}\n`;
  await new Promise((resolve) => process.stderr.once('error', resolve).write(text, resolve));
  return exitCode;
};

const runCommand = async (argv: string[], isFolderGone: boolean): Promise<number | undefined> => {
  // Handled first, because all other flags depend on the flags of all settings.
  if (argv.join(' ') === '--version') return print(`${programVersion}\n`);
  if (['-h', '--help'].includes(argv.join(' '))) return printHelp(serve);
  const { command, args } = await findCommand(argv);
  const known = [...commonFlags, ...listOwnFlags(command), ...(await loadSettingFlags(command))];
  const [own, wrapped] = command.isWrapper ? splitWrapped(args, known) : [args, []];
  await refuseUnknown(own, command, known);
  const { words, values } = parseFlags(own, known, helpOf(command));
  if (values['help']) return printHelp(command);
  if (values['version']) return print(`${programVersion}\n`);
  const flags = values as Flags & CommandInput['own'];
  if (isFolderGone && !command.isWrapper) {
    return report(['the working directory was deleted; change to an existing directory'], '', 1);
  }
  return command.run({ words: toWords([...words, ...wrapped], command), own: flags, flags, isFolderGone });
};

/** Splits a command line into its command and the remaining arguments. Flags may precede the command. */
const findCommand = async (argv: string[]): Promise<{ command: Command; args: string[] }> => {
  const known = argv[0]?.startsWith('-') ? await loadAllFlags() : [];
  const index = findWord(argv, known);
  const name = index === undefined ? undefined : argv[index];
  if (index === undefined || name === undefined) return { command: serve, args: argv };
  const all = ownCommands.some((one) => one.name === name) ? ownCommands : await listCommands();
  const command = all.find((one) => one.name === name);
  if (command) return { command, args: argv.toSpliced(index, 1) };
  // The mistake may be a flag before the word.
  if (known.length > 0) {
    await refuseUnknown(argv, serve, known);
    parseFlags(argv, known, helpOf(serve));
  }
  const names = all.map((one) => one.name);
  const advice = suggest(name, names, '"') || '; see signalbox --help';
  throw new UsageError(`there is no command ${JSON.stringify(name)}${advice}`);
};

/** Loads the flags of all commands. They are needed to tell the values of flags from other words. */
const loadAllFlags = async (): Promise<NamedFlag[]> => {
  const { settingFlags } = await import('./program.ts');
  return [...commonFlags, ...ownCommands.flatMap(listOwnFlags), ...settingFlags];
};

/** Loads the flags for the settings that a command reads. Loads features only if the command reads all settings. */
const loadSettingFlags = async ({ settings = [] }: Command): Promise<readonly NamedFlag[]> => {
  if (settings === 'all') return (await import('./program.ts')).settingFlags;
  if (settings.length === 0) return [];
  const { properties } = (await import('../config/schema.ts')).createSettingsSchema([]);
  return listSettingFlags(properties).filter(({ key }) => ['config', ...settings].includes(key));
};

const refuseUnknown = async (args: string[], command: Command, known: readonly NamedFlag[]): Promise<void> => {
  const unknown = listUnknownFlags(args, known);
  if (unknown.length === 0) return;
  const { schema, settingFlags } = await import('./program.ts');
  const all = { schema, settingFlags, commands: await listCommands() };
  throw new UsageError(...unknown.map((flag) => explainUnknownFlag(flag, command, known, all)));
};

/** Checks that the command accepts this number of words. */
const toWords = (words: string[], command: Command): string[] => {
  const { name, argument } = command;
  if (argument?.isList) return words;
  if (argument === undefined) {
    if (words.length > 0) throw new UsageError(`${name} takes no arguments; see ${helpOf(command)}`);
    return words;
  }
  if (words.length === 1 && words[0] !== '') return words;
  const quotes = argument.isQuoted ? ', in quotes' : '';
  throw new UsageError(`${name} takes one ${argument.name}${quotes}; see ${helpOf(command)}`);
};

const printHelp = ({ name }: Command): undefined => print(loadTexts().help[name] ?? '');
