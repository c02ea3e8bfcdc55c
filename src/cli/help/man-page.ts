import type { TObject } from 'typebox';
import type { Feature } from '../../profiles/feature.ts';
import type { Command } from '../command.ts';
import { describeSettings, listExitCodes, toFlagRow, toSynopsis } from './command-help.ts';
import { groupSettings } from './setting-texts.ts';
import { purpose } from './usage.ts';

/** The manual page signalbox(1), for man(1). */
export const createManPage = (
  version: string,
  commands: readonly Command[],
  schema: TObject,
  features: readonly Feature[],
): string => {
  const profiles = features.flatMap((feature) => feature.profiles);
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
    text(
      'Without a command, signalbox starts the server. It serves tasks, items, logins, readings of the host, durable alerts and diagnostic commands as JSON over HTTP, as far as the profiles that are mounted have them.',
    ),
    '.SH COMMANDS',
    ...commands.flatMap(toCommandSection),
    '.SH SETTINGS',
    text(
      'A setting is a flag, a variable and a key of the config file: `--data-dir` is `dataDir`. Flags override variables, and variables override the config file. Secrets have no flag.',
    ),
    ...toItems([
      ['--config FILE', 'JSON file with settings. Variable `SIGNALBOX_CONFIG`.'],
      ['--help, --version', 'Print the help, or the version.'],
    ]),
    ...groupSettings(schema, features).flatMap(({ title, settings }) => [
      `.SS "${toRoff(title)}"`,
      ...toItems(
        settings.map(({ key, flag, value, variable, description }) => [
          flag === undefined ? key : `${flag}${value ? ` ${value}` : ''}`,
          `${description} ${variable === undefined ? 'Only in the config file.' : `Variable \`${variable}\`.`}`,
        ]),
      ),
    ]),
    '.SH PROFILES',
    ...toItems(profiles.map(({ name, aliases = [], summary }) => [[name, ...aliases].join(', '), toSentence(summary)])),
    ...endings,
    '',
  ].join('\n');
};

const toCommandSection = (command: Command): string[] => {
  const { summary, details = [], flags = {}, variables = {}, exitCodes } = command;
  return [
    `.SS "${toRoff(toSynopsis(command)).replaceAll('"', '""')}"`,
    text([summary, ...details, ...describeSettings(command)].join(' ')),
    ...toItems([...Object.entries(flags).map(toFlagRow), ...Object.entries(variables)]),
    ...(exitCodes ? ['.PP', 'Exit codes:', ...toItems(listExitCodes(command))] : []),
  ];
};

const toSentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;

/** Tagged paragraphs. */
const toItems = (rows: readonly (readonly string[])[]): string[] =>
  rows.flatMap(([tag = '', description = '']) => ['.TP', `\\fB${toRoff(tag)}\\fR`, text(description)]);

/** A paragraph; code between backquotes is bold. */
const text = (paragraph: string): string => toRoff(paragraph).replaceAll(/`([^`]*)`/g, '\\fB$1\\fR');

/** Characters that have a meaning to roff, as themselves. */
const toRoff = (plain: string): string =>
  plain.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(cq').replace(/^\./, '\\&.');

const endings = [
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
  text('Some commands have further ones.'),
  '.SH EXAMPLES',
  text('Start the server with two profiles:'),
  ...toExample('SIGNALBOX_DATA_DIR=/var/lib/signalbox signalbox --profiles alerts,login'),
  '.PP',
  text('Send an alert from a script:'),
  ...toExample('SIGNALBOX_URL=https://box.example.org signalbox send --level WARNING "disk is nearly full"'),
  '.PP',
  text('Get an alert if a backup fails or takes longer than an hour:'),
  ...toExample('signalbox run --source backup --timeout 3600 -- rsync -a /srv /mnt/backup'),
];

function toExample(line: string): string[] {
  return ['.PP', '.RS 4', '.nf', toRoff(line), '.fi', '.RE'];
}
