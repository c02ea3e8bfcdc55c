import type { TObject } from 'typebox';
import type { Command } from '../../src/cli/command.ts';
import type { Feature } from '../../src/kit/feature.ts';
import { listProfiles } from '../../src/kit/listing.ts';
import {
  capitalize,
  describeReads,
  groupSettings,
  type HelpRow,
  listExitCodes,
  purpose,
  type SettingText,
  toFlagRows,
  toSynopsis,
} from './help.ts';

/** Creates the manual page signalbox(1) for man(1). */
export const createManPage = (
  version: string,
  commands: readonly Command[],
  schema: TObject,
  features: readonly Feature[],
): string => {
  const profiles = listProfiles(features);
  const toRow = ({ key, usage, variable, description }: SettingText): HelpRow => [
    usage ?? key,
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
      'Without a command, signalbox starts the server, which serves alerts, incidents, watches, heartbeats, tasks, diagnostic commands and small stores for scripts. The setting `profiles` selects some of these parts.',
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
      profiles.map(({ name, aliases = [], summary }) => [[name, ...aliases].join(', '), `${capitalize(summary)}.`]),
    ),
    '.SH FILES',
    ...toItems([
      ['/etc/signalbox/config.json', 'The config file of the Debian package.'],
      [
        '/var/lib/signalbox',
        'The data folder of the Debian package. Without the package, the setting `dataDir` names the data folder.',
      ],
    ]),
    '.SH SIGNALS',
    ...toItems([
      ['SIGTERM, SIGINT, SIGQUIT', 'The server completes work in progress, and stops within 10 seconds.'],
      [
        'SIGHUP',
        'The server reloads users, keys, destinations and the certificate, and reopens its logs. In a terminal, SIGHUP stops the server.',
      ],
    ]),
    '.SH "EXIT STATUS"',
    ...toItems([
      ['0', 'The server was stopped by a signal, or the command succeeded.'],
      ['1', 'Startup or the command failed, or work in progress was not completed.'],
      ['2', 'The command line is invalid.'],
    ]),
    '.PP',
    toParagraph('Some commands have further exit codes.'),
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

const toCommandSection = (command: Command): string[] => {
  const { summary, details = [], flags = {}, variables = {}, exitCodes } = command;
  return [
    `.SS "${toRoff(toSynopsis(command)).replaceAll('"', '""')}"`,
    toParagraph([summary, ...details, ...describeReads(command)].join(' ')),
    ...toItems([...toFlagRows(flags), ...Object.entries(variables)]),
    ...(exitCodes ? ['.PP', 'Exit codes:', ...toItems(listExitCodes(command))] : []),
  ];
};

/** Writes tagged paragraphs of the manual page. */
const toItems = (rows: readonly HelpRow[]): string[] =>
  rows.flatMap(([tag, description]) => ['.TP', `\\fB${toRoff(tag)}\\fR`, toParagraph(description)]);

const toExample = (line: string): string[] => ['.PP', '.RS 4', '.nf', toRoff(line), '.fi', '.RE'];

/** Writes a paragraph, with code between backquotes in bold. */
const toParagraph = (paragraph: string): string => toRoff(paragraph).replaceAll(/`([^`]*)`/g, '\\fB$1\\fR');

/** Escapes characters with a special meaning in roff. */
const toRoff = (plain: string): string =>
  plain.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(cq').replace(/^\./, '\\&.');
