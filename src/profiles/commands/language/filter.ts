import { findName } from './names.ts';
import { quote, Refusal } from './refusal.ts';
import { createMatcher, likeWildcards } from './wildcard.ts';

const mostConditions = 16;

/** One condition and what joins it to the next. In a text, a backslash stands before a backslash or a quote. */
const form =
  /\s*(?<property>[a-z]\w*)\s*(?<operator>=|like\b)\s*(?:(?<text>'(?:[^'\\]|\\[\\'"])*'|"(?:[^"\\]|\\[\\'"])*")|(?<bare>\d+|true\b|false\b))\s*(?:and\b|(?<end>$))/iy;

export interface Condition {
  property: string;
  operator: '=' | 'LIKE';
  value: string;
}

/** Reads `P = 'x'` and `P LIKE 'x%'`, joined by AND, over the given properties; refuses all other WQL. */
export const parseFilter = (filter: string, properties: readonly string[]): Condition[] | Refusal => {
  const conditions: Condition[] = [];
  for (let at = 0, ended = false; !ended; at = form.lastIndex) {
    form.lastIndex = at;
    const groups = form.exec(filter)?.groups;
    if (!groups) return new Refusal(`Filter is not understood at ${quote(filter.slice(at).trim())}`);
    const condition = toCondition(groups, properties);
    if (condition instanceof Refusal) return condition;
    if (conditions.push(condition) > mostConditions) {
      return new Refusal(`Filter has more than ${mostConditions} conditions`);
    }
    ended = groups['end'] !== undefined;
  }
  return conditions;
};

/** Whether an instance meets every condition. Texts are compared without regard to case, null meets none. */
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
