import type { JsonCondition } from '../type-settings.ts';

/** Returns the problem with conditions, as a clause. */
export const findJsonProblem = (conditions: readonly JsonCondition[]): string | undefined => {
  for (const { pointer, is, value } of conditions) {
    if (!/^(\/.*)?$/s.test(pointer)) return 'json: pointer must be empty or begin with /';
    if (is !== '=' && is !== '!=' && typeof value !== 'number') return `json: ${is} needs a number`;
  }
  return undefined;
};

/** Describes the first condition that a JSON body does not meet. Undefined if it meets all conditions. */
export const findJsonFault = (body: string, conditions: readonly JsonCondition[]): string | undefined => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return 'the body is not JSON';
  }
  for (const condition of conditions) {
    const { pointer, is, value } = condition;
    const found = findValue(parsed, pointer);
    if (!isMet(found, condition))
      return `${pointer || 'the body'} is ${toText(found)} (expected: ${is} ${toText(value)})`;
  }
  return undefined;
};

/** Finds the value at a JSON Pointer (RFC 6901). Undefined if there is none. */
const findValue = (parsed: unknown, pointer: string): unknown => {
  let found = parsed;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof found !== 'object' || found === null) return undefined;
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = Object.hasOwn(found, key) ? (found as Record<string, unknown>)[key] : undefined;
  }
  return found;
};

const isMet = (found: unknown, { is, value }: JsonCondition): boolean => {
  if (is === '=') return found === value;
  if (is === '!=') return found !== value;
  if (typeof found !== 'number' || typeof value !== 'number') return false;
  if (is === '<') return found < value;
  if (is === '<=') return found <= value;
  return is === '>' ? found > value : found >= value;
};

/** Maximum length of a value shown in a message, in characters. */
const maxShown = 100;

const toText = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
};
