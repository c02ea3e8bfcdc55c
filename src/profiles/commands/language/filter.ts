import { findName, quote, Refusal } from './parse.ts';

const maxConditions = 16;

/** One condition, and the AND before the next. In texts, a backslash escapes a backslash or a quote. */
const form =
  /\s*(?<property>[a-z]\w*)\s*(?<operator>=|like\b)\s*(?:(?<text>'(?:[^'\\]|\\[\\'"])*'|"(?:[^"\\]|\\[\\'"])*")|(?<bare>\d+|true\b|false\b))\s*(?:and\b|(?<end>$))/iy;

export interface Condition {
  property: string;
  operator: '=' | 'LIKE';
  value: string;
}

/** Parses `P = 'x'` and `P LIKE 'x%'`, joined by AND, on the given properties; refuses all other WQL. */
export const parseFilter = (filter: string, properties: readonly string[]): Condition[] | Refusal => {
  const conditions: Condition[] = [];
  for (let at = 0, ended = false; !ended; at = form.lastIndex) {
    form.lastIndex = at;
    const groups = form.exec(filter)?.groups;
    if (!groups) return new Refusal(`Filter is not understood at ${quote(filter.slice(at).trim())}`);
    const condition = toCondition(groups, properties);
    if (condition instanceof Refusal) return condition;
    if (conditions.push(condition) > maxConditions) {
      return new Refusal(`Filter has more than ${maxConditions} conditions`);
    }
    ended = groups['end'] !== undefined;
  }
  return conditions;
};

/** Tests instances against all conditions. Case is ignored; null meets no condition. */
export const createFilter = (conditions: readonly Condition[]): ((instance: object) => boolean) => {
  const tests = conditions.map(({ property, operator, value }) => {
    const matches =
      operator === 'LIKE'
        ? createMatcher(value, likeWildcards)
        : (text: string) => text.toLowerCase() === value.toLowerCase();
    return (instance: object) => {
      const found: unknown = Reflect.get(instance, property);
      return found !== null && matches(String(found));
    };
  });
  return (instance) => tests.every((test) => test(instance));
};

const toCondition = (
  { property = '', operator = '', text, bare = '' }: Record<string, string | undefined>,
  properties: readonly string[],
): Condition | Refusal => {
  const known = findName(properties, property);
  if (!known) return new Refusal(`Filter names an unknown property: ${quote(property)}`);
  const value = text === undefined ? bare : text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  if (operator === '=') return { property: known, operator, value };
  if (text === undefined) return new Refusal(`LIKE needs a quoted pattern: ${quote(bare)}`);
  if (/[[\]]/.test(value)) return new Refusal(`Only % and _ are wildcards of LIKE: ${quote(value)}`);
  return { property: known, operator: 'LIKE', value };
};

/** As in PowerShell's names: `any` matches any number of characters, including none; `one` matches exactly one. */
export const nameWildcards = { any: '*', one: '?' };

/** As in WQL's LIKE. */
export const likeWildcards = { any: '%', one: '_' };

export const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern);

/** Matches whole texts, ignoring case. Takes at most pattern × text steps for any input. */
export const createMatcher = (pattern: string, { any, one }: typeof nameWildcards): ((text: string) => boolean) => {
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
  const matchers = patterns.map((pattern) => createMatcher(pattern, nameWildcards));
  return (text) => matchers.some((matches) => matches(text));
};

/** The first pattern that has no wildcards and matches none of the texts. */
export const findUnmatched = (patterns: readonly string[], texts: readonly string[]): string | undefined =>
  patterns.find((pattern) => !hasWildcard(pattern) && !texts.some(createMatcher(pattern, nameWildcards)));
