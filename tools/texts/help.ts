import type { TObject, TSchema } from 'typebox';
import { toFlag, toNegation } from '../../src/cli/args.ts';
import type { Command } from '../../src/cli/command.ts';
import { wrap } from '../../src/cli/remote/table.ts';
import { isFlag, textForm, toVariableName } from '../../src/config/names.ts';
import type { Feature } from '../../src/kit/feature.ts';
import { listProfiles } from '../../src/kit/listing.ts';

/** One-line description of the program. */
export const purpose = 'a small operations desk for your servers';

/** Maximum width in columns of a line of help, and of its left column. */
const widest = 100;
const leftWidth = 34;

/** Term and its explanation. */
export type HelpRow = readonly [string, string];

/** The program's own settings by group. The settings of each feature form a separate group. */
const groups: Record<string, RegExp> = {
  Network: /^(host|port|basePath|cors|allowedHosts|tls.*|trustProxy|.*Timeout|max.*)$/,
  'Profiles and pages': /^(profiles|mounts|publicDir|powershellPath)$/,
  Data: /^(dataDir|seed|store.*|keepSecrets|instanceName|timeZone)$/,
  Security: /^(access|jwt.*|keys)$/,
  Logging: /^log/,
};

/** Setting in the help: its forms and its description. */
export interface SettingText {
  flag?: string;
  /** Flag with its value: `--port N`. */
  usage?: string;
  /** Variable. Undefined if only the config file can contain the setting. */
  variable?: string;
  /** Key in the config file. */
  key: string;
  description: string;
}

/** Creates the text of `--help`. It is at most 100 columns wide. */
export const createUsage = (commands: readonly Command[], schema: TObject, features: readonly Feature[]): string => {
  const profiles = listProfiles(features);
  const toRow = ({ key, usage, variable, description }: SettingText): HelpRow =>
    usage === undefined ? [variable ?? `${key} (file only)`, description] : [usage, `${description} [${variable}]`];
  return [
    `signalbox: ${purpose}`,
    '',
    ...toColumns(commands.map((command) => [toSynopsis(command), command.summary])),
    '',
    'signalbox COMMAND --help prints the flags of a command.',
    '',
    'Example:',
    '  SIGNALBOX_DATA_DIR=/var/lib/signalbox signalbox --config signalbox.json --profiles alerts,login',
    '',
    'A setting is a flag, a variable (in brackets) and a key of the config file: --data-dir is dataDir.',
    'Flags override variables, and variables override the config file. Secrets have no flag.',
    '',
    ...toColumns([
      ['--config FILE', 'JSON file with settings. [SIGNALBOX_CONFIG]'],
      ['--help, --version', 'Print this help, or the version.'],
    ]),
    ...groupSettings(schema, features).flatMap(({ title, settings }) => toSection(title, settings.map(toRow))),
    ...toSection(
      'Profiles, by name or letter',
      profiles.map(({ name, aliases, summary }) => [aliases ? `${name} (${aliases.join(', ')})` : name, summary]),
    ),
    '',
  ].join('\n');
};

/** Creates the text of `signalbox NAME --help`. It is at most 100 columns wide. */
export const createCommandHelp = (command: Command): string => {
  const { summary, details = [], flags = {}, variables = {} } = command;
  const paragraphs = [summary, ...details, ...describeReads(command)];
  return [
    toSynopsis(command),
    ...paragraphs.flatMap((paragraph) => ['', ...wrap(paragraph, widest)]),
    ...toSection('Flags', toFlagRows(flags)),
    ...toSection('Variables', Object.entries(variables)),
    ...toSection('Exit codes', listExitCodes(command)),
    '',
  ].join('\n');
};

/** Groups all settings, in help order. */
export const groupSettings = (
  schema: TObject,
  features: readonly Feature[],
): { title: string; settings: SettingText[] }[] => {
  const isFeatures = (key: string) => features.some(({ settings }) => Object.hasOwn(settings, key));
  const own = Object.entries(schema.properties).filter(([key]) => !isFeatures(key));
  return [
    ...Object.entries(groups).map(([title, keys]) => ({ title, settings: own.filter(([key]) => keys.test(key)) })),
    ...features.map(({ name, settings }) => ({
      title: capitalize(name.replaceAll('-', ' ')),
      settings: Object.entries(settings),
    })),
  ]
    .filter(({ settings }) => settings.length > 0)
    .map(({ title, settings }) => ({ title, settings: settings.map(([key, property]) => toText(key, property)) }));
};

const values = { flag: undefined, integer: 'N', number: 'N', list: 'A,B', string: 'TEXT', none: undefined };

const toText = (key: string, schema: TSchema): SettingText => {
  const form = textForm(schema);
  return {
    key,
    description: describeSetting(key, schema),
    ...(isFlag(schema) && { flag: toFlag(key), usage: withValue(toFlag(key), values[form]) }),
    ...(form !== 'none' && { variable: toVariableName(key) }),
  };
};

const describeSetting = (key: string, schema: TSchema): string => {
  const { description = '', enum: choices, default: value } = schema as Record<string, string & string[]>;
  if (textForm(schema) === 'flag') {
    return `${description}${value ? ` On by default; ${toNegation(key)} turns it off.` : ''}`;
  }
  const choice = choices ? ` One of ${choices.join(', ')}.` : '';
  return `${description}${choice}${value === undefined || String(value) === '' ? '' : ` Default ${value}.`}`;
};

/** Formats the synopsis of a command: `signalbox check-config FILE`. */
export const toSynopsis = ({ name, argument }: Command): string => {
  const text = argument?.isQuoted ? `"${argument.name}"` : argument?.name;
  return ['signalbox', name === 'serve' ? '[serve]' : name, text].filter((part) => part !== undefined).join(' ');
};

export const toFlagRows = (flags: NonNullable<Command['flags']>): HelpRow[] =>
  Object.entries(flags).map(([key, { value, short, summary }]) => [
    withValue(short === undefined ? toFlag(key) : `-${short}, ${toFlag(key)}`, value),
    summary,
  ]);

const withValue = (flag: string, value: string | undefined): string => (value ? `${flag} ${value}` : flag);

/** Describes the settings that a command reads, as sentences. */
export const describeReads = ({ settings = [] }: Command): string[] => {
  if (settings === 'all') {
    return ['The settings of the server apply; signalbox --help lists their flags and variables.'];
  }
  if (settings.length === 0) return [];
  const flags = ['config', ...settings].map(toFlag).join(', ');
  return [`The command reads these settings of the server, as flags, as variables or from the config file: ${flags}.`];
};

/** Lists the exit codes and their meanings. */
export const listExitCodes = ({ exitCodes }: Command): HelpRow[] => {
  const usual = { 0: 'success', 1: 'failure; one line on stderr gives the reason', 2: 'the command line is invalid' };
  return Object.entries(exitCodes ?? usual);
};

export const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const toSection = (title: string, rows: readonly HelpRow[]): string[] =>
  rows.length === 0 ? [] : ['', `${title}:`, ...toColumns(rows)];

/** Writes two columns. Wraps the right column, and starts it on a new line if the left text is too long. */
const toColumns = (rows: readonly HelpRow[]): string[] =>
  rows.flatMap(([left, right]) => {
    const lines = wrap(right, widest - leftWidth);
    const first = `  ${left}`;
    const isLong = first.length > leftWidth - 1;
    const below = isLong ? ['', ...lines] : lines;
    return below.map((line, index) => `${(index === 0 ? first : '').padEnd(leftWidth)}${line}`.trimEnd());
  });
