import { ExpectedError } from '../../lib/expected-errors.ts';

/** Thrown for a command line that is not allowed. The message is shown to the client and names the refused part. */
export class Refusal extends ExpectedError {}

const longestQuote = 40;

/** A part of the command line for a reason: in double quotes, cut if long. */
export const quoteWord = (text: string): string => `"${shortenWord(text)}"`;

/** The first 40 characters, with an ellipsis if there are more. */
export const shortenWord = (text: string): string => {
  const points = [...text];
  return points.length > longestQuote ? `${points.slice(0, longestQuote).join('')}…` : text;
};

/** The name that equals the text. Only the case of ASCII letters is ignored, so no look-alike passes for a name. */
export const findName = <N extends string>(names: readonly N[], text: string): N | undefined =>
  /^\p{ASCII}*$/u.test(text) ? names.find((name) => name.toLowerCase() === text.toLowerCase()) : undefined;

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
const valuePattern = `^(?:[^'${forbidden}]*|[^"$\`${forbidden}]*)$`;

/** The only characters allowed outside quotes, in any script; all others must be quoted. */
const tokenForm =
  /(?<space> +)|(?<comma>,)|'(?<single>[^']*)'|"(?<double>[^"$`]*)"|(?<word>[\p{L}\p{M}\p{N}\-_.*?:/\\%+=!~^[\]]+)/uy;

interface Token {
  kind: 'comma' | 'word' | 'quoted';
  /** Without the quotes. */
  text: string;
}

/** Splits a command line into plain words; refuses all other syntax. */
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
  const hint = typographicQuote.test(character) ? ': PowerShell takes it for a plain quote' : '';
  return new Refusal(`${describeCharacter(character)} is not allowed${hint}`);
};

/** The rest of a line begins with something that is no token. */
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

/** Words that PowerShell reads as numbers. One that stands alone keeps its spelling; in a list, 1kb becomes 1024. */
const number = /^\+?(?:0[xb][\da-f]*|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:[dln]|u?[lsy]|u)?(?:[kmgtp]b)?$/i;

/** Numbers that PowerShell writes as they were given. */
const plainNumber = /^(?:0|[1-9]\d{0,15})$/;

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

/** Parses any text into a command with plain parameters; throws a Refusal that names the first other part. */
export const parseCommandLine = (line: string): CommandLine => {
  const [first, ...rest] = readTokens(line);
  if (first?.kind !== 'word') throw new Refusal('A command must come first');
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
      throw new Refusal(`${quoteWord(text)} in a list is a number in PowerShell: put it in quotes`);
    }
    if (isName) parameters.push({ name: text.slice(1), values: [] });
    else if (!isComma) addValue(parameters, text, afterComma);
    afterComma = isComma;
  }
  if (afterComma) throw refuseComma();
  return parameters;
};

const refuseComma = (): Refusal => new Refusal(`A comma must stand between two values: ${quoteWord(',')}`);

const addValue = (parameters: RawParameter[], text: string, continuesList: boolean): void => {
  const current = parameters.at(-1);
  const isFirstOfNamed = current?.name !== undefined && current.values.length === 0;
  if (current && (continuesList || isFirstOfNamed)) current.values.push(text);
  else parameters.push({ name: undefined, values: [text] });
};

const maxConditions = 16;

/** One condition, and the AND before the next. In texts, a backslash escapes a backslash or a quote. */
const conditionForm =
  /\s*(?<property>[a-z]\w*)\s*(?<operator>=|like\b)\s*(?:(?<text>'(?:[^'\\]|\\[\\'"])*'|"(?:[^"\\]|\\[\\'"])*")|(?<bare>\d+|true\b|false\b))\s*(?:and\b|(?<end>$))/iy;

export interface FilterCondition {
  property: string;
  operator: '=' | 'LIKE';
  value: string;
}

/** Parses `P = 'x'` and `P LIKE 'x%'`, joined by AND, on the given properties; throws a Refusal for all other WQL. */
export const parseFilter = (filter: string, properties: readonly string[]): FilterCondition[] => {
  const conditions: FilterCondition[] = [];
  for (let at = 0, ended = false; !ended; at = conditionForm.lastIndex) {
    conditionForm.lastIndex = at;
    const groups = conditionForm.exec(filter)?.groups;
    if (!groups) throw new Refusal(`Filter is not understood at ${quoteWord(filter.slice(at).trim())}`);
    conditions.push(toCondition(groups, properties));
    if (conditions.length > maxConditions) throw new Refusal(`Filter has more than ${maxConditions} conditions`);
    ended = groups['end'] !== undefined;
  }
  return conditions;
};

const toCondition = (
  { property = '', operator = '', text, bare = '' }: Record<string, string | undefined>,
  properties: readonly string[],
): FilterCondition => {
  const known = findName(properties, property);
  if (!known) throw new Refusal(`Filter names an unknown property: ${quoteWord(property)}`);
  const value = text === undefined ? bare : text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  if (operator === '=') return { property: known, operator, value };
  if (text === undefined) throw new Refusal(`LIKE needs a quoted pattern: ${quoteWord(bare)}`);
  if (/[[\]]/.test(value)) throw new Refusal(`Only % and _ are wildcards of LIKE: ${quoteWord(value)}`);
  return { property: known, operator: 'LIKE', value };
};

/** Tests instances against all conditions. Case is ignored; null meets no condition. */
export const createRowFilter = (conditions: readonly FilterCondition[]): ((instance: object) => boolean) => {
  const tests = conditions.map(({ property, operator, value }) => {
    const matches =
      operator === 'LIKE'
        ? createTextMatcher(value, likeWildcards)
        : (text: string) => text.toLowerCase() === value.toLowerCase();
    return (instance: object) => {
      const found: unknown = Reflect.get(instance, property);
      return found !== null && matches(String(found));
    };
  });
  return (instance) => tests.every((test) => test(instance));
};

/** As in PowerShell's names: `any` matches any number of characters, including none; `one` matches exactly one. */
export const nameWildcards = { any: '*', one: '?' };

/** As in WQL's LIKE. */
export const likeWildcards = { any: '%', one: '_' };

export const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern);

/** Matches whole texts, ignoring case. Takes at most pattern × text steps for any input. */
export const createTextMatcher = (pattern: string, { any, one }: typeof nameWildcards): ((text: string) => boolean) => {
  const wanted = [...pattern.toLowerCase()];
  return (text) => {
    const given = [...text.toLowerCase()];
    let at = 0;
    let next = 0;
    let resume: { wanted: number; given: number } | undefined;
    while (next < given.length) {
      if (wanted[at] === any) {
        at += 1;
        resume = { wanted: at, given: next };
      } else if (at < wanted.length && (wanted[at] === one || wanted[at] === given[next])) {
        at += 1;
        next += 1;
      } else if (resume) {
        resume.given += 1;
        at = resume.wanted;
        next = resume.given;
      } else return false;
    }
    return wanted.slice(at).every((character) => character === any);
  };
};

/** Matches texts that match at least one of the patterns. */
export const createAnyMatcher = (patterns: readonly string[]): ((text: string) => boolean) => {
  const matchers = patterns.map((pattern) => createTextMatcher(pattern, nameWildcards));
  return (text) => matchers.some((matches) => matches(text));
};

/** How a text becomes a value of a parameter, and the JSON Schema that accepts the same values. */
export interface ValueKind<V> {
  /** Throws a Refusal. `properties` are those of the class that the command names. */
  parse(text: string, properties: readonly string[]): V;
  schema: object;
  /** Follows the description of each parameter. */
  hint?: string;
}

const toTextSchema = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: valuePattern });

/** Counts code points, as JSON Schema does. */
const requireLength = (text: string, maxLength: number): void => {
  if ([...text].length > maxLength) throw new Refusal(`${quoteWord(text)} is longer than ${maxLength} characters`);
};

/** A text in which `*` and `?` are wildcards. */
export const patternKind = (maxLength: number): ValueKind<string> => ({
  parse: (text) => {
    if (text === '') throw new Refusal('a value must not be empty');
    requireLength(text, maxLength);
    if (/[[\]]/.test(text)) throw new Refusal(`${quoteWord(text)}: only * and ? are wildcards`);
    return text;
  },
  schema: { ...toTextSchema(maxLength), not: { pattern: String.raw`[\[\]]` } },
  hint: 'Any case; * and ? are wildcards.',
});

export const integerKind = (minimum: number, maximum: number): ValueKind<number> => ({
  parse: (text) => {
    const number = Number(text);
    if (/^\d{1,16}$/.test(text) && number >= minimum && number <= maximum) return number;
    throw new Refusal(`${quoteWord(text)} is not a whole number from ${minimum} to ${maximum}`);
  },
  schema: { type: 'integer', minimum, maximum },
});

const parseChoice = <V extends string>(text: string, values: readonly V[]): V => {
  const found = findName(values, text);
  if (found === undefined) throw new Refusal(`${quoteWord(text)} is not one of ${values.join(', ')}`);
  return found;
};

export const choiceKind = <const V extends string>(values: readonly V[]): ValueKind<V> => ({
  parse: (text) => parseChoice(text, values),
  schema: { type: 'string', enum: values },
});

/** A property of the class that ClassName names. */
export const propertyKind: ValueKind<string> = { parse: parseChoice, schema: { type: 'string' } };

/** Conditions on properties of the class that ClassName names. JSON Schema cannot express their grammar. */
export const filterKind = (maxLength: number): ValueKind<FilterCondition[]> => ({
  parse: (text, properties) => {
    requireLength(text, maxLength);
    return parseFilter(text, properties);
  },
  schema: toTextSchema(maxLength),
  hint: "Property = value or Property LIKE 'a%_b', joined by AND.",
});

/** Before the calendar is checked. */
const dateForm =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** `dateForm` for messages. */
const dateForms = 'yyyy-MM-dd or yyyy-MM-ddTHH:mm[:ss[.fff]][Z|±hh:mm]';

/** An ISO 8601 date; one without a zone is in the machine's local time, as in PowerShell. */
export const dateKind: ValueKind<Date> = {
  parse: (text) => {
    const { day = '', time = '00:00', seconds = ':00', zone = '' } = dateForm.exec(text)?.groups ?? {};
    const value = new Date(`${day}T${time}${seconds}${zone}`);
    if (Number.isNaN(value.getTime()) || !isDayOfMonth(day)) {
      throw new Refusal(`${quoteWord(text)} is not a date of the form ${dateForms}`);
    }
    return value;
  },
  schema: { type: 'string', pattern: dateForm.source },
  hint: `${dateForms}, in local time without a zone.`,
};

/** JavaScript reads 30 February as 1 March. */
const isDayOfMonth = (day: string): boolean => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
