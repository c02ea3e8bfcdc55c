import { basename } from 'node:path';

const shells = new Set(['sh', 'ash', 'bash', 'dash', 'ksh', 'zsh', 'fish']);

/** Words of a script that are part of its name at most. */
const mostWords = 3;

/**
 * What people call a command: its program; for a shell, the file that it runs or the first words of what `-c` names, which end
 * before flags, quotes and variables.
 */
export const toCommandName = ([program = '', ...args]: readonly string[]): string => {
  const name = basename(program);
  if (!shells.has(name)) return name;
  const first = args.findIndex((arg) => !arg.startsWith('-'));
  const script = args[first];
  if (script === undefined) return name;
  if (!args.slice(0, first).some((flag) => /^-[a-z]*c[a-z]*$/.test(flag))) return basename(script);
  const words = script.trim().split(/\s+/).slice(0, mostWords);
  const end = words.findIndex((word) => !/^[\w./:@%+,][\w./:@%+,-]*$/.test(word));
  const [command = '', ...others] = end < 0 ? words : words.slice(0, end);
  return [basename(command), ...others].join(' ') || name;
};
