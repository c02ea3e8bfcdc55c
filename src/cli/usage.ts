import type { TObject, TSchema } from 'typebox';
import { isFlag, textForm, toFlagName } from '../config/schema.ts';
import type { Feature } from '../profiles/feature.ts';

const commands = [
  ['signalbox [flags]', 'serve'],
  ['signalbox hash-password', 'make a password hash for the setting users; asks, or reads standard input'],
  ['signalbox config-schema', 'print the JSON Schema of the config file, for editors'],
];

/** The text of `--help`. */
export const createUsage = (schema: TObject, features: readonly Feature[]): string => {
  const tools = features.flatMap((feature) => feature.tools ?? []);
  const profiles = features.flatMap((feature) => feature.profiles);
  const flags = Object.entries(schema.properties)
    .filter(([, property]) => isFlag(property))
    .map(([key, property]) => [`--${toFlagName(key)}${placeholders[textForm(property)]}`, describe(property)]);
  return [
    'signalbox: one small JSON-over-HTTP server for a host',
    '',
    ...toColumns([
      ...commands,
      ...tools.map(({ name, argument, summary }) => [`signalbox ${name} "${argument}"`, summary]),
    ]),
    '',
    'Flags (each is also a variable, --data-dir is SIGNALBOX_DATA_DIR, and a key of the config file, dataDir):',
    ...toColumns([['--config FILE', 'JSON file with settings.'], ...flags, ['--help, --version', '']]),
    '',
    'Profiles, by name or letter:',
    ...toColumns(profiles.map(({ name, alias, summary }) => [alias ? `${name} (${alias})` : name, summary])),
    '',
  ].join('\n');
};

const placeholders = { flag: '', integer: ' N', list: ' A,B', string: ' TEXT', none: '' };

const describe = (schema: TSchema): string => {
  const { description = '', enum: values, default: value } = schema as Record<string, string & string[]>;
  const choices = values ? ` One of ${values.join(', ')}.` : '';
  const isTold = value !== undefined && String(value) !== '' && textForm(schema) !== 'flag';
  return `${description}${choices}${isTold ? ` Default ${value}.` : ''}`;
};

const toColumns = (rows: readonly (readonly (string | undefined)[])[]): string[] => {
  const width = Math.max(...rows.map(([left = '']) => left.length)) + 2;
  return rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}${right}`.trimEnd());
};
