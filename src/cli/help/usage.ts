import type { TObject } from 'typebox';
import type { Feature } from '../../profiles/feature.ts';
import type { Command } from '../command.ts';
import { toColumns } from './columns.ts';
import { toSynopsis } from './command-help.ts';
import { groupSettings } from './setting-texts.ts';

/** One line about the program. */
export const purpose = 'one small JSON-over-HTTP server for a host';

/** The text of `--help`, at most 100 columns wide. */
export const createUsage = (commands: readonly Command[], schema: TObject, features: readonly Feature[]): string => {
  const profiles = features.flatMap((feature) => feature.profiles);
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
    ...groupSettings(schema, features).flatMap(({ title, settings }) => [
      '',
      `${title}:`,
      ...toColumns(
        settings.map(({ key, flag, value, variable, description }) => {
          if (flag === undefined) return [variable ?? `${key} (file only)`, description];
          return [`${flag}${value ? ` ${value}` : ''}`, `${description} [${variable}]`];
        }),
      ),
    ]),
    '',
    'Profiles, by name or letter:',
    ...toColumns(
      profiles.map(({ name, aliases, summary }) => [aliases ? `${name} (${aliases.join(', ')})` : name, summary]),
    ),
    '',
  ].join('\n');
};
