import type { CompletedCommand, CompletedFlag } from './completion-data.ts';

/** A completion script for fish. */
export const createFishCompletion = (commands: readonly CompletedCommand[]): string => {
  const names = commands.map(({ name }) => name).join(' ');
  return [
    '# fish completion of signalbox, printed by: signalbox completion fish',
    `set -l commands ${names}`,
    ...commands.flatMap(({ name, summary, flags, words, isWrapper }, index) => [
      `complete -c signalbox -n "not __fish_seen_subcommand_from $commands" -f -a ${name} -d ${quote(summary)}`,
      ...flags.map((flag) => `complete -c signalbox -n "${isUsed(name, index)}" ${toOption(flag)}`),
      ...(words.length > 0
        ? [`complete -c signalbox -n "${isUsed(name, index)}" -f -a ${quote(words.join(' '))}`]
        : []),
      ...(isWrapper ? [`complete -c signalbox -n "${isUsed(name, index)}" -f -a "(__fish_complete_command)"`] : []),
    ]),
    '',
  ].join('\n');
};

/** The first command's flags also complete where no command is named. */
const isUsed = (name: string, index: number): string =>
  index === 0
    ? `not __fish_seen_subcommand_from $commands; or __fish_seen_subcommand_from ${name}`
    : `__fish_seen_subcommand_from ${name}`;

const toOption = ({ flag, summary, value, choices, isList = false }: CompletedFlag): string => {
  const words = isList ? `(__fish_append , ${choices.join(' ')})` : choices.join(' ');
  const values = choices.length > 0 ? ` -x -a ${quote(words)}` : value === undefined ? '' : ' -r';
  return `-l ${flag.slice(2)} -d ${quote(summary)}${values}`;
};

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
