import { quote, Refusal } from './refusal.ts';

/**
 * Line breaks and other controls, Unicode line and paragraph separators, lone surrogates, and the marks that
 * reverse the direction in which a text is displayed.
 */
const invisible = String.raw`\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}`;

/** For PowerShell these are quotes like ' and ", also inside quotes: they would end the text. */
const typographicQuotes = String.raw`\u2018-\u201e`;

const forbidden = `${invisible}${typographicQuotes}`;
const forbiddenAnywhere = new RegExp(`[${forbidden}]`, 'u');
const typographicQuote = new RegExp(`[${typographicQuotes}]`, 'u');

/** Values that single or double quotes can enclose, as a JSON Schema pattern. */
export const valuePattern = `^(?:[^'${forbidden}]*|[^"$\`${forbidden}]*)$`;

/** The only characters allowed outside quotes, in any script; all others must be quoted. */
const forms =
  /(?<space> +)|(?<comma>,)|'(?<single>[^']*)'|"(?<double>[^"$`]*)"|(?<word>[\p{L}\p{M}\p{N}\-_.*?:/\\%+=!~^[\]]+)/uy;

export interface Token {
  kind: 'comma' | 'word' | 'quoted';
  /** Without the quotes. */
  text: string;
}

/** Splits a command line into plain words; refuses all other syntax. */
export const readTokens = (line: string): Token[] | Refusal => {
  const [forbidden] = forbiddenAnywhere.exec(line) ?? [];
  if (forbidden !== undefined) return refuseCharacter(forbidden);
  const tokens: Token[] = [];
  let touchesValue = false;
  for (let at = 0; at < line.length; at = forms.lastIndex) {
    forms.lastIndex = at;
    const groups = forms.exec(line)?.groups;
    if (!groups) return describeFault(line.slice(at));
    const token = toToken(groups);
    const isValue = token !== undefined && token.kind !== 'comma';
    if (isValue && touchesValue) {
      return new Refusal(`Quotes must enclose a whole value: ${quote(token.text)}`);
    }
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
  const isQuote = typographicQuote.test(character);
  return new Refusal(
    `${describe(character)} is not allowed${isQuote ? ': PowerShell takes it for a plain quote' : ''}`,
  );
};

const describeFault = (rest: string): Refusal => {
  const [first = ''] = rest;
  if (first === "'") return new Refusal("A quote (') is not closed");
  if (first !== '"') return new Refusal(`${describe(first)} is not allowed outside quotes`);
  const special = /^"[^"$`]*([$`])/.exec(rest)?.[1];
  return new Refusal(
    special ? `${describe(special)} is not allowed inside double quotes` : 'A quote (") is not closed',
  );
};

const describe = (character: string): string => {
  const code = Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0');
  return /[\p{C}\p{Z}]/u.test(character) ? `Character U+${code}` : `Character ${character} (U+${code})`;
};
