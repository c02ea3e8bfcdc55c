import type { CompletedCommand, CompletedFlag } from './completion-data.ts';

/** A completion script for bash. */
export const createBashCompletion = (commands: readonly CompletedCommand[]): string => {
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
${[...choices.values()].map(toChoices).join('\n')}
    esac
    COMPREPLY=($(compgen -P "$list" -W "$choices" -- "\${value#"$list"}"))
    # bash completes only what follows the last colon.
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${value%"\${value##*:}"}"}")
    return
  fi
  case $command in
${commands.map(toCase).join('\n')}
  esac
  if [[ -n $wrapped ]]; then COMPREPLY=()
  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ $command == run ]]; then COMPREPLY=($(compgen -c -- "$current"))
  else COMPREPLY=($(compgen -W "$choices" -- "$current"))
  fi
}
complete -o default -F _signalbox signalbox
`.replace('@commands', commands.map(({ name }) => name).join(' '));
};

/** Before the last entry of a list, the others stay. */
const toChoices = ({ flag, choices, isList = false }: CompletedFlag): string =>
  `      ${flag}) choices='${choices.join(' ')}'${isList ? ` list=\${value%"\${value##*,}"}` : ''} ;;`;

/** The first command's flags also complete where no command is named. */
const toCase = ({ name, flags, words }: CompletedCommand, index: number): string => {
  const pattern = index === 0 ? `'' | ${name}` : name;
  const choices =
    index === 0
      ? "; [[ -z $command ]] && choices='@commands'"
      : words.length > 0
        ? ` choices='${words.join(' ')}'`
        : '';
  return `    ${pattern}) flags='${flags.map(({ flag }) => flag).join(' ')}'${choices} ;;`;
};
