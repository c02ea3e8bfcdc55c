import type { TObject, TSchema } from 'typebox';
import { isFlag, textForm, toVariableName } from '../config/names.ts';
import type { Feature } from '../profiles/feature.ts';
import { toFlag, toNegation } from './args.ts';
import type { Command } from './command.ts';

/** One line about the program. */
const purpose = 'one small JSON-over-HTTP server for a host';

/** The widest line of the help, and its left column. */
const widest = 100;
const leftWidth = 34;

/** Two texts: what is explained, and the explanation. */
type Row = readonly [string, string];

/** The program's own settings by group; each feature's settings form a group of their own. */
const groups: Record<string, RegExp> = {
  Network: /^(host|port|cors|allowedHosts|tls.*|trustProxy|.*Timeout|max.*)$/,
  'Profiles and pages': /^(profiles|mounts|publicDir|powershellPath)$/,
  Data: /^(dataDir|seed|store.*|keepSecrets|instanceName|timeZone)$/,
  Security: /^(access|jwt.*|keys)$/,
  Logging: /^log/,
};

/** A setting in the help: how it is given, e.g. `--port N`, and what it does. */
interface SettingText {
  flag?: string;
  /** Stands for the flag's value; switches have none. */
  value?: string;
  /** None if only the config file can hold it. */
  variable?: string;
  /** Its key in the config file. */
  key: string;
  description: string;
}

/** The text of `--help`, at most 100 columns wide. */
export const createUsage = (commands: readonly Command[], schema: TObject, features: readonly Feature[]): string => {
  const profiles = features.flatMap((feature) => feature.profiles);
  const toRow = ({ key, flag, variable, description, ...setting }: SettingText): Row =>
    flag === undefined
      ? [variable ?? `${key} (file only)`, description]
      : [withValue(flag, setting.value), `${description} [${variable}]`];
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
      profiles.map(({ name, alias, summary }) => [alias ? `${name} (${alias})` : name, summary]),
    ),
    '',
  ].join('\n');
};

/** The text of `signalbox NAME --help`, at most 100 columns wide. */
export const createCommandHelp = (command: Command): string => {
  const { summary, details = [], flags = {}, variables = {} } = command;
  const paragraphs = [summary, ...details, ...describeReads(command)];
  return [
    toSynopsis(command),
    ...paragraphs.flatMap((paragraph) => ['', ...wrap(paragraph)]),
    ...toSection('Flags', toFlagRows(flags)),
    ...toSection('Variables', Object.entries(variables)),
    ...toSection('Exit codes', listExitCodes(command)),
    '',
  ].join('\n');
};

/** The manual page signalbox(1), for man(1). */
export const createManPage = (
  version: string,
  commands: readonly Command[],
  schema: TObject,
  features: readonly Feature[],
): string => {
  const profiles = features.flatMap((feature) => feature.profiles);
  const toRow = ({ key, flag, variable, description, ...setting }: SettingText): Row => [
    flag === undefined ? key : withValue(flag, setting.value),
    `${description} ${variable === undefined ? 'Only in the config file.' : `Variable \`${variable}\`.`}`,
  ];
  return [
    `.TH SIGNALBOX 1 "" "signalbox ${toRoff(version)}" "User Commands"`,
    '.nh',
    '.ad l',
    '.SH NAME',
    `signalbox \\- ${toRoff(purpose)}`,
    '.SH SYNOPSIS',
    '.B signalbox',
    '.RI [ flags ]',
    '.br',
    '.B signalbox',
    '.I command',
    '.RI [ flags ]\n.RI [ arguments ]',
    '.SH DESCRIPTION',
    toParagraph(
      'Without a command, signalbox starts the server. It serves tasks, items, logins, readings of the host, durable alerts and diagnostic commands as JSON over HTTP, as far as the profiles that are mounted have them.',
    ),
    '.SH COMMANDS',
    ...commands.flatMap(toCommandSection),
    '.SH SETTINGS',
    toParagraph(
      'A setting is a flag, a variable and a key of the config file: `--data-dir` is `dataDir`. Flags override variables, and variables override the config file. Secrets have no flag.',
    ),
    ...toItems([
      ['--config FILE', 'JSON file with settings. Variable `SIGNALBOX_CONFIG`.'],
      ['--help, --version', 'Print the help, or the version.'],
    ]),
    ...groupSettings(schema, features).flatMap(({ title, settings }) => [
      `.SS "${toRoff(title)}"`,
      ...toItems(settings.map(toRow)),
    ]),
    '.SH PROFILES',
    ...toItems(
      profiles.map(({ name, alias, summary }) => [alias ? `${name}, ${alias}` : name, `${capitalize(summary)}.`]),
    ),
    '.SH FILES',
    ...toItems([
      ['/etc/signalbox/config.json', 'The config file of the Debian package.'],
      ['/var/lib/signalbox', 'Its data folder. Otherwise the setting `dataDir` names it.'],
    ]),
    '.SH SIGNALS',
    ...toItems([
      ['SIGTERM, SIGINT, SIGQUIT', 'The server completes what is in progress and stops within 10 seconds.'],
      [
        'SIGHUP',
        'It reloads users, keys, destinations and the certificate, and reopens its logs. In a terminal it stops.',
      ],
    ]),
    '.SH "EXIT STATUS"',
    ...toItems([
      ['0', 'The server was stopped by a signal, or the command succeeded.'],
      ['1', 'Startup or the command failed, or work in progress was not completed.'],
      ['2', 'The command line is invalid.'],
    ]),
    '.PP',
    toParagraph('Some commands have further ones.'),
    '.SH EXAMPLES',
    toParagraph('Start the server with two profiles:'),
    ...toExample('SIGNALBOX_DATA_DIR=/var/lib/signalbox signalbox --profiles alerts,login'),
    '.PP',
    toParagraph('Send an alert from a script:'),
    ...toExample('SIGNALBOX_URL=https://box.example.org signalbox send --level WARNING "disk is nearly full"'),
    '.PP',
    toParagraph('Get an alert if a backup fails or takes longer than an hour:'),
    ...toExample('signalbox run --source backup --timeout 3600 -- rsync -a /srv /mnt/backup'),
    '',
  ].join('\n');
};

/** All settings in their groups, in the order of the help. */
export const groupSettings = (
  schema: TObject,
  features: readonly Feature[],
): { title: string; settings: SettingText[] }[] => {
  const isFeatures = (key: string) => features.some(({ settings }) => Object.hasOwn(settings, key));
  const own = Object.entries(schema.properties).filter(([key]) => !isFeatures(key));
  return [
    ...Object.entries(groups).map(([title, keys]) => ({ title, settings: own.filter(([key]) => keys.test(key)) })),
    ...features.map(({ name, settings }) => ({ title: capitalize(name), settings: Object.entries(settings) })),
  ]
    .filter(({ settings }) => settings.length > 0)
    .map(({ title, settings }) => ({ title, settings: settings.map(([key, property]) => toText(key, property)) }));
};

const values = { flag: undefined, integer: 'N', list: 'A,B', string: 'TEXT', none: undefined };

const toText = (key: string, schema: TSchema): SettingText => {
  const form = textForm(schema);
  const value = values[form];
  return {
    key,
    description: describeSetting(key, schema),
    ...(isFlag(schema) && { flag: toFlag(key), ...(value && { value }) }),
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

/** `signalbox check-config FILE` */
const toSynopsis = ({ name, argument }: Command): string => {
  const text = argument?.isQuoted ? `"${argument.name}"` : argument?.name;
  return ['signalbox', name === 'serve' ? '[serve]' : name, text].filter((part) => part !== undefined).join(' ');
};

const toFlagRows = (flags: NonNullable<Command['flags']>): Row[] =>
  Object.entries(flags).map(([key, { value, summary }]) => [withValue(toFlag(key), value), summary]);

const withValue = (flag: string, value: string | undefined): string => (value ? `${flag} ${value}` : flag);

/** Which settings a command reads, as sentences. */
const describeReads = ({ settings = [] }: Command): string[] => {
  if (settings === 'all') {
    return ['The settings of the server apply; signalbox --help lists their flags and variables.'];
  }
  if (settings.length === 0) return [];
  const flags = ['config', ...settings].map(toFlag).join(', ');
  return [`It reads these settings of the server, as flags, as variables or from the config file: ${flags}.`];
};

/** Each exit code and when the command ends with it. */
const listExitCodes = ({ exitCodes }: Command): Row[] => {
  const usual = { 0: 'success', 1: 'failure; one line on stderr says why', 2: 'the command line is invalid' };
  return Object.entries(exitCodes ?? usual);
};

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const toSection = (title: string, rows: readonly Row[]): string[] =>
  rows.length === 0 ? [] : ['', `${title}:`, ...toColumns(rows)];

/** Two columns; the right one is wrapped, and begins on a line of its own if the left one is too long. */
const toColumns = (rows: readonly Row[]): string[] =>
  rows.flatMap(([left, right]) => {
    const lines = wrap(right, widest - leftWidth);
    const first = `  ${left}`;
    const isLong = first.length > leftWidth - 1;
    const below = isLong ? ['', ...lines] : lines;
    return below.map((line, index) => `${(index === 0 ? first : '').padEnd(leftWidth)}${line}`.trimEnd());
  });

/** The words in lines of at most `width` characters. */
const wrap = (text: string, width = widest): string[] => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};

const toCommandSection = (command: Command): string[] => {
  const { summary, details = [], flags = {}, variables = {}, exitCodes } = command;
  return [
    `.SS "${toRoff(toSynopsis(command)).replaceAll('"', '""')}"`,
    toParagraph([summary, ...details, ...describeReads(command)].join(' ')),
    ...toItems([...toFlagRows(flags), ...Object.entries(variables)]),
    ...(exitCodes ? ['.PP', 'Exit codes:', ...toItems(listExitCodes(command))] : []),
  ];
};

/** Tagged paragraphs of the manual page. */
const toItems = (rows: readonly Row[]): string[] =>
  rows.flatMap(([tag, description]) => ['.TP', `\\fB${toRoff(tag)}\\fR`, toParagraph(description)]);

const toExample = (line: string): string[] => ['.PP', '.RS 4', '.nf', toRoff(line), '.fi', '.RE'];

/** Code between backquotes is bold. */
const toParagraph = (paragraph: string): string => toRoff(paragraph).replaceAll(/`([^`]*)`/g, '\\fB$1\\fR');

/** Characters that have a meaning to roff, as themselves. */
const toRoff = (plain: string): string =>
  plain.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(cq').replace(/^\./, '\\&.');
