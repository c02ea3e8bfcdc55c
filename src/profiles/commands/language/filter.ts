import { quote, Refusal } from './refusal.ts';
import { findName } from './values.ts';
import { createMatcher, likeWildcards } from './wildcard.ts';

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
