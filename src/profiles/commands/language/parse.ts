import { quote, Refusal } from './refusal.ts';
import { readTokens, type Token } from './tokens.ts';

/** Words that PowerShell reads as numbers. One that stands alone keeps its spelling; in a list, 1kb becomes 1024. */
const number = /^\+?(?:0[xb][\da-f]*|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:[dln]|u?[lsy]|u)?(?:[kmgtp]b)?$/i;

/** Numbers that PowerShell writes as they were given. */
const plainNumber = /^(?:0|[1-9]\d{0,15})$/;

const danglingComma = new Refusal(`A comma must stand between two values: ${quote(',')}`);

export interface CommandLine {
  /** The first word, allowed or not. */
  name: string;
  parameters: RawParameter[];
}

export interface RawParameter {
  /** As written, without the dash; undefined for a value without a name. */
  name: string | undefined;
  /** Empty for a switch; several if they were separated by commas. */
  values: string[];
}

/** Parses any text into a command with plain parameters, or returns a refusal that names the first other part. */
export const parseCommandLine = (line: string): CommandLine | Refusal => {
  const tokens = readTokens(line);
  if (tokens instanceof Refusal) return tokens;
  const [first, ...rest] = tokens;
  if (first?.kind !== 'word') return new Refusal('A command must come first');
  const parameters = groupTokens(rest);
  return parameters instanceof Refusal ? parameters : { name: first.text, parameters };
};

const groupTokens = (tokens: Token[]): RawParameter[] | Refusal => {
  const parameters: RawParameter[] = [];
  let afterComma = false;
  for (const [index, { kind, text }] of tokens.entries()) {
    const isComma = kind === 'comma';
    const isName = kind === 'word' && text.startsWith('-');
    const hasValue = parameters.at(-1)?.values.length;
    if ((afterComma && (isComma || isName)) || (isComma && !hasValue)) return danglingComma;
    const isInList = afterComma || tokens[index + 1]?.kind === 'comma';
    if (kind === 'word' && isInList && number.test(text) && !plainNumber.test(text)) {
      return new Refusal(`${quote(text)} in a list is a number in PowerShell: put it in quotes`);
    }
    if (isName) parameters.push({ name: text.slice(1), values: [] });
    else if (!isComma) addValue(parameters, text, afterComma);
    afterComma = isComma;
  }
  return afterComma ? danglingComma : parameters;
};

const addValue = (parameters: RawParameter[], text: string, continuesList: boolean): void => {
  const current = parameters.at(-1);
  const isFirstOfNamed = current?.name !== undefined && current.values.length === 0;
  if (current && (continuesList || isFirstOfNamed)) current.values.push(text);
  else parameters.push({ name: undefined, values: [text] });
};
