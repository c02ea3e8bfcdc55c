import type { TObject } from 'typebox';
import { commonFlags, listOwnFlags, listSettingFlags, toFlag, toNegation } from '../../src/cli/args.ts';
import type { Command, NamedFlag } from '../../src/cli/command.ts';
import type { CompletionShell } from '../../src/cli/texts.ts';

/** Command with its flags, in the form used for shell completion. */
interface CompletedCommand extends Pick<Command, 'name' | 'argument' | 'summary' | 'isWrapper'> {
  flags: NamedFlag[];
}

/** Creates the completion script for a shell. The first command is the default command. */
export const createCompletion = (
  shell: CompletionShell,
  commands: readonly Command[],
  schema: TObject,
  profiles: readonly string[],
): string => {
  const settings = listSettingFlags(schema.properties).map((flag) =>
    flag.key === 'profiles' ? { ...flag, choices: profiles } : flag,
  );
  const help = commonFlags.filter(({ key }) => key === 'help');
  const completed = commands.map((command) => ({
    ...command,
    flags: [...listOwnFlags(command), ...settings.filter(({ key }) => takesSetting(command, key)), ...help],
  }));
  return { bash: createBashScript, zsh: createZshScript, fish: createFishScript }[shell](completed);
};

const takesSetting = ({ settings = [], argument }: Command, key: string): boolean => {
  if (key === 'config') return settings.length > 0 && argument?.name !== 'FILE';
  return settings === 'all' || settings.includes(key);
};

/** Completes a switch that is on by default to its negation. */
const toCompletedFlag = ({ key, isOn = false }: NamedFlag): string => (isOn ? toNegation(key) : toFlag(key));

/** Returns the first sentence, without its full stop. */
const toTitle = (text: string): string =>
  text
    .replaceAll('`', '')
    .split(/[.;:] |\.$/, 1)
    .join();

const createBashScript = (commands: readonly CompletedCommand[]): string => {
  const flags = commands.flatMap((command) => command.flags);
  const valued = new Set(flags.flatMap(({ key, value }) => (value === undefined ? [] : toFlag(key))));
  const choosing = new Map(flags.flatMap((flag) => (flag.choices ? [[flag.key, flag]] : [])));
  return `# bash completion of signalbox, printed by: signalbox completion bash
_signalbox() {
  local line=\${COMP_LINE:0:COMP_POINT} words flag= value= command= wrapped= choices= flags= list= numbers= index
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
${[...choosing.values()].map(toBashChoices).join('\n')}
    esac
    COMPREPLY=($(compgen -P "$list" -W "$choices" -- "\${value#"$list"}"))
    # bash completes only what follows the last colon.
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${value%"\${value##*:}"}"}")
    return
  fi
  case $command in
${commands.map(toBashCase).join('\n')}
  esac
  if [[ -n $numbers && $current != -* ]]; then
    # Without files where there are no numbers.
    compopt +o default 2>/dev/null
    choices=$("\${words[0]}" completion "$numbers" 2>/dev/null | cut -f1)
  fi
  if [[ -n $wrapped ]]; then COMPREPLY=()
  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ $command == run ]]; then COMPREPLY=($(compgen -c -- "$current"))
  else COMPREPLY=($(compgen -W "$choices" -- "$current"))
  fi
}
complete -o default -F _signalbox signalbox
`;
};

/** Completes the last entry of a list and keeps the entries before it. */
const toBashChoices = ({ key, choices = [], isList }: NamedFlag): string =>
  `      ${toFlag(key)}) choices='${choices.join(' ')}'${isList === 'joined' ? ` list=\${value%"\${value##*,}"}` : ''} ;;`;

/** Completes the flags of the first command, and the names of all commands, even if no command has been typed. */
const toBashCase = (
  { name, flags, argument }: CompletedCommand,
  index: number,
  commands: readonly CompletedCommand[],
): string => {
  const pattern = index === 0 ? `'' | ${name}` : name;
  const names = commands.map((command) => command.name).join(' ');
  const choices = argument?.choices
    ? ` choices='${argument.choices.join(' ')}'`
    : argument?.numbers
      ? ` numbers=${argument.numbers}`
      : '';
  const all = index === 0 ? `; [[ -z $command ]] && choices='${names}'` : choices;
  return `    ${pattern}) flags='${flags.map(toCompletedFlag).join(' ')}'${all} ;;`;
};

const createZshScript = (commands: readonly CompletedCommand[]): string =>
  `#compdef signalbox
# zsh completion of signalbox, printed by: signalbox completion zsh
_signalbox_numbers() {
  local -a numbers=(\${(f)"$(signalbox completion $1 2>/dev/null)"})
  numbers=(\${numbers/$'\\t'/:})
  _describe -V "number of $1" numbers
}
_signalbox() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoteForZsh(`${name}:${toTitle(summary)}`)}`).join('\n')}
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

const toZshCase = ({ name, flags, argument, isWrapper }: CompletedCommand): string => {
  const word = argument?.choices
    ? `1:word:(${argument.choices.join(' ')})`
    : argument?.numbers
      ? `${argument.isList ? '*' : '1'}:number: _signalbox_numbers ${argument.numbers}`
      : '*:file:_files';
  const specs = [...flags.map(toZshSpec), isWrapper ? '*::command:_normal' : word];
  return `    ${name}) _arguments ${specs.map(quoteForZsh).join(' ')} ;;`;
};

const toZshSpec = ({ value, choices = [], ...flag }: NamedFlag): string => {
  const title = `[${toTitle(flag.summary).replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  if (value === undefined) return `${toCompletedFlag(flag)}${title}`;
  const words = choices.join(' ').replaceAll(':', '\\:');
  const list = flag.isList === 'joined' ? `_sequence compadd - ${words}` : `(${words})`;
  return `*${toFlag(flag.key)}=${title}:${value}:${choices.length === 0 ? '_files' : list}`;
};

const quoteForZsh = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const createFishScript = (commands: readonly CompletedCommand[]): string => {
  const lines = commands.flatMap(({ name, summary, flags, argument, isWrapper }, index) => {
    const isUsed = `__fish_seen_subcommand_from ${name}`;
    // Completes the flags of the first command even if no command has been typed.
    const condition = index === 0 ? `not __fish_seen_subcommand_from $commands; or ${isUsed}` : isUsed;
    const complete = `complete -c signalbox -n "${condition}"`;
    return [
      `complete -c signalbox -n "not __fish_seen_subcommand_from $commands" -f -a ${name} -d ${quoteForFish(toTitle(summary))}`,
      ...flags.map((flag) => `${complete} ${toFishOption(flag)}`),
      ...(argument?.choices ? [`${complete} -f -a ${quoteForFish(argument.choices.join(' '))}`] : []),
      ...(argument?.numbers ? [`${complete} -f -k -a "(signalbox completion ${argument.numbers} 2>/dev/null)"`] : []),
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

const toFishOption = ({ value, choices = [], ...flag }: NamedFlag): string => {
  const words = flag.isList === 'joined' ? `(__fish_append , ${choices.join(' ')})` : choices.join(' ');
  const values = choices.length > 0 ? ` -x -a ${quoteForFish(words)}` : value === undefined ? '' : ' -r';
  return `-l ${toCompletedFlag(flag).slice(2)} -d ${quoteForFish(toTitle(flag.summary))}${values}`;
};

const quoteForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
