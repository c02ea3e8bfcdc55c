import type { TObject, TSchema } from 'typebox';
import { isFlag, textForm } from '../config/names.ts';
import { toFlag } from './args.ts';
import type { Command } from './command.ts';

/** A command as the shells complete it. */
interface CompletedCommand {
  name: string;
  summary: string;
  flags: CompletedFlag[];
  /** What its words can be; files if nothing is known. */
  words: readonly string[];
  isWrapper: boolean;
}

interface CompletedFlag {
  /** With the dashes. */
  flag: string;
  summary: string;
  /** A switch has none. */
  value?: string;
  /** What its value can be; files if nothing is known. */
  choices: readonly string[];
  /** Its value is a list, separated by commas. */
  isList?: boolean;
}

/** The shells for which there is a script. */
export const completionShells = ['bash', 'zsh', 'fish'] as const;

/** The completion script for a shell. The first command is the one that runs if none is named. */
export const createCompletion = (
  shell: (typeof completionShells)[number],
  commands: readonly Command[],
  schema: TObject,
  profiles: readonly string[],
): string => {
  const create = { bash: createBashScript, zsh: createZshScript, fish: createFishScript }[shell];
  return create(commands.map((command) => toCompleted(command, schema, profiles)));
};

const toCompleted = (command: Command, schema: TObject, profiles: readonly string[]): CompletedCommand => {
  const { name, summary, flags = {}, argument, settings: reads = [], isWrapper = false } = command;
  const read = Object.entries(schema.properties).filter(
    ([key, property]) => isFlag(property) && (reads === 'all' || reads.includes(key)),
  );
  const config = { flag: '--config', summary: 'JSON file with settings', value: 'FILE', choices: [] };
  return {
    name,
    summary: toTitle(summary),
    isWrapper,
    words: argument?.choices ?? [],
    flags: [
      ...Object.entries(flags).map(([key, { value, summary: text, choices = [] }]) => ({
        flag: toFlag(key),
        summary: toTitle(text),
        choices,
        ...(value && { value }),
      })),
      ...(read.length === 0 || argument?.name === 'FILE' ? [] : [config]),
      ...read.map(([key, property]) => toCompletedSetting(key, property, profiles)),
      { flag: '--help', summary: 'Print the help', choices: [] },
    ],
  };
};

const toCompletedSetting = (key: string, schema: TSchema, profiles: readonly string[]): CompletedFlag => {
  const { description = '', examples, enum: words = examples, default: value } = schema as SettingSchema;
  const summary = toTitle(description);
  const flag = toFlag(key);
  const form = textForm(schema);
  if (form === 'flag') {
    return { flag: value === true ? flag.replace('--', '--no-') : flag, summary, choices: [] };
  }
  const choices = key === 'profiles' ? profiles : (words ?? []);
  return { flag, summary, value: key, choices, isList: form === 'list' };
};

interface SettingSchema {
  description?: string;
  examples?: string[];
  enum?: string[];
  default?: unknown;
}

/** The first sentence, without its full stop. */
const toTitle = (text: string): string =>
  text
    .replaceAll('`', '')
    .split(/[.;:] |\.$/, 1)
    .join();

const createBashScript = (commands: readonly CompletedCommand[]): string => {
  const flags = commands.flatMap((command) => command.flags);
  const valued = new Set(flags.flatMap(({ flag, value }) => (value === undefined ? [] : flag)));
  const choices = new Map(flags.filter((flag) => flag.choices.length > 0).map((flag) => [flag.flag, flag]));
  return `# bash completion of signalbox, printed by: signalbox completion bash
_signalbox() {
  local line=\${COMP_LINE:0:COMP_POINT} words flag= value= command= wrapped= choices= flags= list= index
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local last=$((\${#words[@]} - 1))
  local current=\${words[last]}
  for ((index = 1; index < last; index++)); do
    case \${words[index]} in
      ${[...valued].join(' | ')}) [[ -z $wrapped ]] && ((index++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=\${words[index]}; elif [[ $command == run ]]; then wrapped=1; fi ;;
    esac
  done
  if ((index > last)); then
    flag=\${words[last - 1]} value=$current
  elif [[ $current == --*=* && -z $wrapped ]]; then
    flag=\${current%%=*} value=\${current#*=}
  fi
  if [[ -n $flag ]]; then
    case $flag in
${[...choices.values()].map(toBashChoices).join('\n')}
    esac
    COMPREPLY=($(compgen -P "$list" -W "$choices" -- "\${value#"$list"}"))
    # bash completes only what follows the last colon.
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${value%"\${value##*:}"}"}")
    return
  fi
  case $command in
${commands.map(toBashCase).join('\n')}
  esac
  if [[ -n $wrapped ]]; then COMPREPLY=()
  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ $command == run ]]; then COMPREPLY=($(compgen -c -- "$current"))
  else COMPREPLY=($(compgen -W "$choices" -- "$current"))
  fi
}
complete -o default -F _signalbox signalbox
`;
};

/** Before the last entry of a list, the others stay. */
const toBashChoices = ({ flag, choices, isList = false }: CompletedFlag): string =>
  `      ${flag}) choices='${choices.join(' ')}'${isList ? ` list=\${value%"\${value##*,}"}` : ''} ;;`;

/** The first command's flags also complete where no command is named, as do the names of all. */
const toBashCase = (
  { name, flags, words }: CompletedCommand,
  index: number,
  commands: readonly CompletedCommand[],
): string => {
  const pattern = index === 0 ? `'' | ${name}` : name;
  const names = commands.map((command) => command.name).join(' ');
  const choices = words.length > 0 ? ` choices='${words.join(' ')}'` : '';
  const all = index === 0 ? `; [[ -z $command ]] && choices='${names}'` : choices;
  return `    ${pattern}) flags='${flags.map(({ flag }) => flag).join(' ')}'${all} ;;`;
};

const createZshScript = (commands: readonly CompletedCommand[]): string =>
  `#compdef signalbox
# zsh completion of signalbox, printed by: signalbox completion zsh
_signalbox() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoteForZsh(`${name}:${summary}`)}`).join('\n')}
  )
  local command=serve
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  if [[ $words[2] != -* ]]; then
    command=$words[2]
    shift words
    ((CURRENT--))
  fi
  case $command in
${commands.map(toZshCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _signalbox ]]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;

const toZshCase = ({ name, flags, words, isWrapper }: CompletedCommand): string => {
  const rest = isWrapper ? '*::command:_normal' : words.length > 0 ? `1:word:(${words.join(' ')})` : '*:file:_files';
  return `    ${name}) _arguments ${[...flags.map(toZshSpec), rest].map(quoteForZsh).join(' ')} ;;`;
};

const toZshSpec = ({ flag, summary, value, choices, isList = false }: CompletedFlag): string => {
  const title = `[${summary.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  if (value === undefined) return `${flag}${title}`;
  const words = choices.join(' ').replaceAll(':', '\\:');
  const values = choices.length === 0 ? '_files' : isList ? `_sequence compadd - ${words}` : `(${words})`;
  return `*${flag}=${title}:${value}:${values}`;
};

const quoteForZsh = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const createFishScript = (commands: readonly CompletedCommand[]): string => {
  const lines = commands.flatMap(({ name, summary, flags, words, isWrapper }, index) => {
    const isUsed = `__fish_seen_subcommand_from ${name}`;
    // The first command's flags also complete where no command is named.
    const condition = index === 0 ? `not __fish_seen_subcommand_from $commands; or ${isUsed}` : isUsed;
    const complete = `complete -c signalbox -n "${condition}"`;
    return [
      `complete -c signalbox -n "not __fish_seen_subcommand_from $commands" -f -a ${name} -d ${quoteForFish(summary)}`,
      ...flags.map((flag) => `${complete} ${toFishOption(flag)}`),
      ...(words.length > 0 ? [`${complete} -f -a ${quoteForFish(words.join(' '))}`] : []),
      ...(isWrapper ? [`${complete} -f -a "(__fish_complete_command)"`] : []),
    ];
  });
  return [
    '# fish completion of signalbox, printed by: signalbox completion fish',
    `set -l commands ${commands.map(({ name }) => name).join(' ')}`,
    ...lines,
    '',
  ].join('\n');
};

const toFishOption = ({ flag, summary, value, choices, isList = false }: CompletedFlag): string => {
  const words = isList ? `(__fish_append , ${choices.join(' ')})` : choices.join(' ');
  const values = choices.length > 0 ? ` -x -a ${quoteForFish(words)}` : value === undefined ? '' : ' -r';
  return `-l ${flag.slice(2)} -d ${quoteForFish(summary)}${values}`;
};

const quoteForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
