import { toFlag } from '../args.ts';
import type { Command } from '../command.ts';
import { toColumns, wrap } from './columns.ts';

/** `signalbox check-config FILE` */
export const toSynopsis = ({ name, argument }: Command): string => {
  const text = argument?.isQuoted ? `"${argument.name}"` : argument?.name;
  return ['signalbox', name === 'serve' ? '[serve]' : name, text].filter((part) => part !== undefined).join(' ');
};

/** The text of `signalbox NAME --help`, at most 100 columns wide. */
export const createCommandHelp = (command: Command): string => {
  const { summary, details = [], flags = {}, variables = {} } = command;
  const paragraphs = [summary, ...details, ...describeSettings(command)];
  return [
    toSynopsis(command),
    ...paragraphs.flatMap((text) => ['', ...wrap(text)]),
    ...toSection('Flags', Object.entries(flags).map(toFlagRow)),
    ...toSection('Variables', Object.entries(variables)),
    ...toSection('Exit codes', listExitCodes(command)),
    '',
  ].join('\n');
};

/** The flag and its value, and what it does. */
export const toFlagRow = ([key, { value, summary }]: [string, { value?: string; summary: string }]): [
  string,
  string,
] => [`${toFlag(key)}${value ? ` ${value}` : ''}`, summary];

/** Which settings a command reads, as sentences. */
export const describeSettings = ({ settings = [] }: Command): string[] => {
  if (settings === 'all')
    return ['The settings of the server apply; signalbox --help lists their flags and variables.'];
  if (settings.length === 0) return [];
  const flags = ['config', ...settings].map(toFlag).join(', ');
  return [`It reads these settings of the server, as flags, as variables or from the config file: ${flags}.`];
};

/** Each exit code and when the command ends with it. */
export const listExitCodes = ({ exitCodes }: Command): [string, string][] => {
  const usual = { 0: 'success', 1: 'failure; one line on stderr says why', 2: 'the command line is invalid' };
  return Object.entries(exitCodes ?? usual);
};

const toSection = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : ['', `${title}:`, ...toColumns(rows)];
