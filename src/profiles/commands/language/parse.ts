/** A command line that is not allowed. The reason is shown to the client and names the refused part. */
export class Refusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

const longestQuote = 40;

/** A part of the command line for a reason: in double quotes, cut if long. */
export const quote = (text: string): string => `"${cut(text)}"`;

/** The first 40 characters, with an ellipsis if there are more. */
export const cut = (text: string): string => {
  const points = [...text];
  return points.length > longestQuote ? `${points.slice(0, longestQuote).join('')}…` : text;
};

/** The name that equals the text. Only the case of ASCII letters is ignored, so no look-alike passes for a name. */
export const findName = <N extends string>(names: readonly N[], text: string): N | undefined =>
  /^\p{ASCII}*$/u.test(text) ? names.find((name) => name.toLowerCase() === text.toLowerCase()) : undefined;

export const parseChoice = (text: string, values: readonly string[]): string | Refusal =>
  findName(values, text) ?? new Refusal(`${quote(text)} is not one of ${values.join(', ')}`);

export const parseInteger = (text: string, min: number, max: number): number | Refusal => {
  const number = Number(text);
  const isInRange = /^\d{1,16}$/.test(text) && number >= min && number <= max;
  return isInRange ? number : new Refusal(`${quote(text)} is not a whole number from ${min} to ${max}`);
};

/** A text in which `*` and `?` are wildcards. */
export const parsePattern = (text: string, maxLength: number): string | Refusal => {
  if (text === '') return new Refusal('a value must not be empty');
  const tooLong = refuseLonger(text, maxLength);
  if (tooLong) return tooLong;
  return /[[\]]/.test(text) ? new Refusal(`${quote(text)}: only * and ? are wildcards`) : text;
};

/** Counts code points, as JSON Schema does. */
export const refuseLonger = (text: string, maxLength: number): Refusal | undefined =>
  [...text].length > maxLength ? new Refusal(`${quote(text)} is longer than ${maxLength} characters`) : undefined;

/** The accepted forms of a date, before the calendar is checked. */
export const dateForm =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** `dateForm` for messages. */
export const dateForms = 'yyyy-MM-dd or yyyy-MM-ddTHH:mm[:ss[.fff]][Z|±hh:mm]';

/** An ISO 8601 date; one without a zone is in the machine's local time, as in PowerShell. */
export const parseDate = (text: string): Date | Refusal => {
  const { day = '', time = '00:00', seconds = ':00', zone = '' } = dateForm.exec(text)?.groups ?? {};
  const date = new Date(`${day}T${time}${seconds}${zone}`);
  if (Number.isNaN(date.getTime()) || !isDayOfMonth(day)) {
    return new Refusal(`${quote(text)} is not a date of the form ${dateForms}`);
  }
  return date;
};

/** JavaScript reads 30 February as 1 March. */
const isDayOfMonth = (day: string): boolean => new Date(`${day}T00:00Z`).toISOString().startsWith(day);

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

interface Token {
  kind: 'comma' | 'word' | 'quoted';
  /** Without the quotes. */
  text: string;
}

/** Splits a command line into plain words; refuses all other syntax. */
const readTokens = (line: string): Token[] | Refusal => {
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
