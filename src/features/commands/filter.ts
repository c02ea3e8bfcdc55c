import { findName, quoteWord, Refusal } from './language.ts';
import { createTextMatcher, likeWildcards } from './wildcards.ts';

const maxConditions = 16;

/**
 * One condition. Ends with AND if another condition follows. In strings, a backslash escapes a backslash or a quote.
 */
const conditionForm =
  /\s*(?<property>[a-z]\w*)\s*(?<operator>=|like\b)\s*(?:(?<text>'(?:[^'\\]|\\[\\'"])*'|"(?:[^"\\]|\\[\\'"])*")|(?<bare>\d+|true\b|false\b))\s*(?:and\b|(?<end>$))/iy;

export interface FilterCondition {
  property: string;
  operator: '=' | 'LIKE';
  value: string;
}

/**
 * Parses conditions on the given properties: `P = 'x'` and `P LIKE 'x%'`, joined by AND. Throws a Refusal for any other
 * WQL.
 */
export const parseFilter = (filter: string, properties: readonly string[]): FilterCondition[] => {
  const conditions: FilterCondition[] = [];
  for (let at = 0, ended = false; !ended; at = conditionForm.lastIndex) {
    conditionForm.lastIndex = at;
    const groups = conditionForm.exec(filter)?.groups;
    if (!groups) throw new Refusal(`Filter has a syntax error at ${quoteWord(filter.slice(at).trim())}`);
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

/** Creates a test of whether an instance meets all conditions. Ignores case. Null meets no condition. */
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
