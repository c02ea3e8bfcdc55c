import type { TObject, TSchema } from 'typebox';
import { isFlag, textForm, toFlagName, toVariableName } from '../config/schema.ts';
import type { Feature } from '../profiles/feature.ts';

const commands = [
  ['signalbox [flags]', 'Start the server.'],
  ['signalbox check-config FILE', 'Check a config file without starting the server.'],
  ['signalbox config-schema', 'Print the JSON Schema of the config file, for editors.'],
  [
    'signalbox create-key NAME',
    'Print a new key for a program that cannot log in, and its entry for the setting keys; --scope names what it may do.',
  ],
  [
    'signalbox export',
    'Print all tasks, items, alerts and audit records of the store as JSON lines; stop the server first.',
  ],
  ['signalbox import', 'Store what export has printed, from standard input, in an empty store.'],
  ['signalbox hash-password', 'Print a password hash for the setting users; prompts, or reads standard input.'],
];

/** The program's own settings by group; each feature's settings form a group of their own. */
const groups: Record<string, RegExp> = {
  Network: /^(host|port|cors|allowedHosts|tls.*|trustProxy|.*Timeout|max.*)$/,
  'Profiles and pages': /^(profiles|mounts|publicDir|powershellPath)$/,
  Data: /^(dataDir|seed|store|instanceName|timeZone)$/,
  Security: /^(jwt.*|keys)$/,
  Logging: /^log/,
};

const widest = 100;

/** The text of `--help`, at most 100 columns wide. */
export const createUsage = (schema: TObject, features: readonly Feature[]): string => {
  const tools = features.flatMap((feature) => feature.tools ?? []);
  const profiles = features.flatMap((feature) => feature.profiles);
  const isFeatures = (key: string) => features.some(({ settings }) => Object.hasOwn(settings, key));
  const own = Object.entries(schema.properties).filter(([key]) => !isFeatures(key));
  return [
    'signalbox: one small JSON-over-HTTP server for a host',
    '',
    ...toColumns([
      ...commands,
      ...tools.map(({ name, argument, summary }) => [`signalbox ${name} "${argument}"`, toSentence(summary)]),
    ]),
    '',
    'Example:',
    '  SIGNALBOX_DATA_DIR=/var/lib/signalbox signalbox --config signalbox.json --profiles alerts,login',
    '',
    'Each flag is also a variable (in brackets) and a key of the config file: --data-dir is dataDir.',
    'Flags override variables, and variables override the config file. Secrets have no flag.',
    '',
    ...toColumns([
      ['--config FILE', 'JSON file with settings. [SIGNALBOX_CONFIG]'],
      ['--help, --version', 'Print this help, or the version.'],
    ]),
    ...Object.entries(groups).flatMap(([title, keys]) => {
      const members = own.filter(([key]) => keys.test(key));
      return toSection(title, members);
    }),
    ...features.flatMap(({ name, settings }) => toSection(toSentence(name).slice(0, -1), Object.entries(settings))),
    '',
    'Profiles, by name or letter:',
    ...toColumns(profiles.map(({ name, alias, summary }) => [alias ? `${name} (${alias})` : name, summary])),
    '',
  ].join('\n');
};

const toSection = (title: string, settings: readonly [string, TSchema][]): string[] =>
  settings.length === 0 ? [] : ['', `${title}:`, ...toColumns(settings.map(([key, schema]) => toRow(key, schema)))];

const toRow = (key: string, schema: TSchema): string[] => {
  const form = textForm(schema);
  if (form === 'none') return [`${key} (file only)`, describe(schema, toFlagName(key))];
  const variable = toVariableName(key);
  if (!isFlag(schema)) return [variable, describe(schema, toFlagName(key))];
  return [`--${toFlagName(key)}${placeholders[form]}`, `${describe(schema, toFlagName(key))} [${variable}]`];
};

const placeholders = { flag: '', integer: ' N', list: ' A,B', string: ' TEXT' };

const describe = (schema: TSchema, flag: string): string => {
  const { description = '', enum: values, default: value } = schema as Record<string, string & string[]>;
  const choices = values ? ` One of ${values.join(', ')}.` : '';
  if (textForm(schema) === 'flag') return `${description}${value ? ` On by default; --no-${flag} turns it off.` : ''}`;
  return `${description}${choices}${value === undefined || String(value) === '' ? '' : ` Default ${value}.`}`;
};

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Two columns; the right one is wrapped. */
const toColumns = (rows: readonly (readonly string[])[]): string[] => {
  const width = 34;
  return rows.flatMap(([left = '', right = '']) =>
    wrap(right, widest - width).map((line, index) => `${(index === 0 ? `  ${left}` : '').padEnd(width)}${line}`),
  );
};

/** The words in lines of at most `width` characters. */
const wrap = (text: string, width: number): string[] => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};
