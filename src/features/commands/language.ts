import { ExpectedError } from '../../lib/expected-errors.ts';

/** Error for a command line that is not allowed. Clients get the message. It names the refused part. */
export class Refusal extends ExpectedError {}

const maxQuoteLength = 40;

/** Quotes part of the command line for a message: in double quotes, and shortened. */
export const quoteWord = (text: string): string => `"${shortenWord(text)}"`;

/** Returns the first 40 characters, with an ellipsis if there are more. */
export const shortenWord = (text: string): string => {
  const points = [...text];
  return points.length > maxQuoteLength ? `${points.slice(0, maxQuoteLength).join('')}…` : text;
};

/** Returns the name that equals the text. Ignores case only for ASCII letters, so that look-alikes do not match. */
export const findName = <N extends string>(names: readonly N[], text: string): N | undefined =>
  /^\p{ASCII}*$/u.test(text) ? names.find((name) => name.toLowerCase() === text.toLowerCase()) : undefined;

/**
 * Line breaks and other controls, Unicode line and paragraph separators, lone surrogates, and marks that reverse text
 * direction.
 */
const invisible = String.raw`\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}`;

/** Quotes that PowerShell treats like ' and ", even inside quotes. There they would end the text. */
const typographicQuotes = String.raw`\u2018-\u201e`;

export const forbidden = `${invisible}${typographicQuotes}`;
const forbiddenAnywhere = new RegExp(`[${forbidden}]`, 'u');
const typographicQuote = new RegExp(`[${typographicQuotes}]`, 'u');

/** Characters allowed outside quotes. No other characters are, in any script. */
const tokenForm =
  /(?<space> +)|(?<comma>,)|'(?<single>[^']*)'|"(?<double>[^"$`]*)"|(?<word>[\p{L}\p{M}\p{N}\-_.*?:/\\%+=!~^[\]]+)/uy;

interface Token {
  kind: 'comma' | 'word' | 'quoted';
  /** Text without quotes. */
  text: string;
}

/** Splits a command line into words and commas. Refuses all other syntax. */
const readTokens = (line: string): Token[] => {
  const [character] = forbiddenAnywhere.exec(line) ?? [];
  if (character !== undefined) throw refuseCharacter(character);
  const tokens: Token[] = [];
  let touchesValue = false;
  for (let at = 0; at < line.length; at = tokenForm.lastIndex) {
    tokenForm.lastIndex = at;
    const groups = tokenForm.exec(line)?.groups;
    if (!groups) throw refuseSyntax(line.slice(at));
    const token = toToken(groups);
    const isValue = token !== undefined && token.kind !== 'comma';
    if (isValue && touchesValue) throw new Refusal(`Quotes must enclose a whole value: ${quoteWord(token.text)}`);
    if (token) tokens.push(token);
    touchesValue = isValue;
  }
  return tokens;
};

const toToken = ({ space, comma, word, single, double = '' }: Record<string, string>): Token | undefined => {
  if (space !== undefined) return undefined;
  if (comma !== undefined) return { kind: 'comma', text: comma };
  if (word !== undefined) return { kind: 'word', text: word };
  return { kind: 'quoted', text: single ?? double };
};

const refuseCharacter = (character: string): Refusal => {
  const hint = typographicQuote.test(character) ? ': PowerShell treats this character as a plain quote' : '';
  return new Refusal(`${describeCharacter(character)} is not allowed${hint}`);
};

/** Creates the refusal for the rest of a line that does not begin with a token. */
const refuseSyntax = (rest: string): Refusal => {
  const [first = ''] = rest;
  if (first === "'") return new Refusal("A quote (') is not closed");
  if (first !== '"') return new Refusal(`${describeCharacter(first)} is not allowed outside quotes`);
  const special = /^"[^"$`]*([$`])/.exec(rest)?.[1];
  return new Refusal(
    special ? `${describeCharacter(special)} is not allowed inside double quotes` : 'A quote (") is not closed',
  );
};

const describeCharacter = (character: string): string => {
  const code = Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0');
  return /[\p{C}\p{Z}]/u.test(character) ? `Character U+${code}` : `Character ${character} (U+${code})`;
};

/**
 * Words that PowerShell reads as numbers. Outside a list, such a word keeps its spelling. In a list, 1kb becomes 1024.
 */
const number = /^\+?(?:0[xb][\da-f]*|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:[dln]|u?[lsy]|u)?(?:[kmgtp]b)?$/i;

/** Numbers that PowerShell prints unchanged. */
const plainNumber = /^(?:0|[1-9]\d{0,15})$/;

export interface CommandLine {
  /** First word of the line, whether allowed or not. */
  name: string;
  parameters: RawParameter[];
}

export interface RawParameter {
  /** Name as written, without its dash. Undefined for a value without a name. */
  name: string | undefined;
  /** Values. Empty for a switch. Several if separated by commas. */
  values: string[];
}

/**
 * Parses any text into a command with plain parameters. Throws a Refusal that names the first part that does not fit.
 */
export const parseCommandLine = (line: string): CommandLine => {
  const [first, ...rest] = readTokens(line);
  if (first?.kind !== 'word') throw new Refusal('The line must begin with a command');
  return { name: first.text, parameters: groupTokens(rest) };
};

const groupTokens = (tokens: Token[]): RawParameter[] => {
  const parameters: RawParameter[] = [];
  let afterComma = false;
  for (const [index, { kind, text }] of tokens.entries()) {
    const isComma = kind === 'comma';
    const isName = kind === 'word' && text.startsWith('-');
    const hasValue = parameters.at(-1)?.values.length;
    if ((afterComma && (isComma || isName)) || (isComma && !hasValue)) throw refuseComma();
    const isInList = afterComma || tokens[index + 1]?.kind === 'comma';
    if (kind === 'word' && isInList && number.test(text) && !plainNumber.test(text)) {
      throw new Refusal(`${quoteWord(text)} in a list is a number in PowerShell: put the value in quotes`);
    }
    if (isName) parameters.push({ name: text.slice(1), values: [] });
    else if (!isComma) addValue(parameters, text, afterComma);
    afterComma = isComma;
  }
  if (afterComma) throw refuseComma();
  return parameters;
};

const refuseComma = (): Refusal => new Refusal(`A comma must separate two values: ${quoteWord(',')}`);

const addValue = (parameters: RawParameter[], text: string, continuesList: boolean): void => {
  const current = parameters.at(-1);
  const isFirstOfNamed = current?.name !== undefined && current.values.length === 0;
  if (current && (continuesList || isFirstOfNamed)) current.values.push(text);
  else parameters.push({ name: undefined, values: [text] });
};
