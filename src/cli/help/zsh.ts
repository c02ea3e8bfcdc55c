import type { CompletedCommand, CompletedFlag } from './completion-data.ts';

/** A completion script for zsh. */
export const createZshCompletion = (commands: readonly CompletedCommand[]): string =>
  `#compdef signalbox
# zsh completion of signalbox, printed by: signalbox completion zsh
_signalbox() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`).join('\n')}
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
${commands.map(toCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _signalbox ]]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;

const toCase = ({ name, flags, words, isWrapper }: CompletedCommand): string => {
  const rest = isWrapper ? '*::command:_normal' : words.length > 0 ? `1:word:(${words.join(' ')})` : '*:file:_files';
  return `    ${name}) _arguments ${[...flags.map(toSpec), rest].map(quote).join(' ')} ;;`;
};

const toSpec = ({ flag, summary, value, choices, isList = false }: CompletedFlag): string => {
  const title = `[${summary.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  if (value === undefined) return `${flag}${title}`;
  const words = choices.join(' ').replaceAll(':', '\\:');
  const values = choices.length === 0 ? '_files' : isList ? `_sequence compadd - ${words}` : `(${words})`;
  return `*${flag}=${title}:${value}:${values}`;
};

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
