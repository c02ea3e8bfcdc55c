import { isFlag, normalise, suggest, textForm, toVariableName } from '../config/names.ts';
import { commonFlags, type KnownFlag, listOwnFlags, toFlag } from './args.ts';
import { type Command, helpOf } from './command.ts';
import { schema, settingFlags } from './settings.ts';

/** Why the command does not take the flag, and what to do about it. */
export const explainUnknownFlag = (
  flag: string,
  command: Command,
  known: readonly KnownFlag[],
  commands: readonly Command[],
): string => {
  const takes = (flags: readonly KnownFlag[]) => flags.some(({ key }) => toFlag(key) === flag);
  const owners = commands.filter((one) => takes(listOwnFlags(one))).map(({ name }) => name);
  if (owners.length > 0) return `${flag} belongs to ${owners.join(', ')}`;
  if (takes(settingFlags) && !takes(known)) return `${flag} is a setting that ${command.name} does not read`;
  if (command.name === 'send' && !flag.startsWith('--')) {
    return `Unknown option '${flag}'; put -- before a message that begins with -`;
  }
  return `Unknown option '${flag}'${explainSetting(flag) ?? (suggestFlag(flag, known) || `; see ${helpOf(command)}`)}`;
};

/** Settings that have no flag. */
const explainSetting = (flag: string): string | undefined => {
  const found = Object.entries(schema.properties).find(
    ([key, property]) => !isFlag(property) && normalise(key) === normalise(flag),
  );
  if (!found) return undefined;
  const [key, property] = found;
  const variable = textForm(property) === 'none' ? '' : `the variable ${toVariableName(key)} or `;
  return `: ${key} has no flag; set ${variable}${key} in the config file`;
};

const suggestFlag = (flag: string, known: readonly KnownFlag[]): string =>
  suggest(
    flag,
    [...commonFlags, ...known].flatMap(({ key, type }) =>
      type === 'switch' && flag.startsWith('--no-') ? toFlag(key).replace('--', '--no-') : toFlag(key),
    ),
  );
