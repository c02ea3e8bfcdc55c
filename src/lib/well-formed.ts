/** Matches JSON escapes that can produce a lone surrogate. UTF-8 itself cannot represent one. */
const mayHaveHalves = /\\u[dD][89a-fA-F]/;

/**
 * Changes the parsed value of a JSON text in place. U+FFFD replaces lone surrogates in strings and names. Handles any
 * depth without recursion.
 */
export const makeParsedWellFormed = (json: string, value: unknown): unknown => {
  if (!mayHaveHalves.test(json)) return value;
  if (typeof value === 'string') return value.toWellFormed();
  const waiting = [value];
  const change = (member: unknown): unknown => {
    if (typeof member === 'object' && member !== null) waiting.push(member);
    return typeof member === 'string' ? member.toWellFormed() : member;
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) for (let at = 0; at < next.length; at += 1) next[at] = change(next[at]);
    else if (typeof next === 'object' && next !== null) changeMembers(next as Record<string, unknown>, change);
  }
  return value;
};

const changeMembers = (members: Record<string, unknown>, change: (member: unknown) => unknown): void => {
  for (const [name, member] of Object.entries(members)) {
    if (!name.isWellFormed()) delete members[name];
    members[name.toWellFormed()] = change(member);
  }
};

/** Nesting depth beyond which lists and objects are left unchanged. */
const deepest = 16;

/** Replaces lone surrogates in the strings and names of a value by U+FFFD. Returns a well-formed value unchanged. */
export const makeWellFormed = <T>(value: T): T => (isWellFormed(value, 0) ? value : (toWellFormed(value, 0) as T));

const isWellFormed = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null || depth > deepest) return true;
  if (Array.isArray(value)) return value.every((member) => isWellFormed(member, depth + 1));
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (!name.isWellFormed() || !isWellFormed(member, depth + 1)) return false;
  }
  return true;
};

const toWellFormed = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth > deepest) return value;
  if (Array.isArray(value)) return value.map((member) => toWellFormed(member, depth + 1));
  const members = Object.entries(value).map(([name, member]) => [name.toWellFormed(), toWellFormed(member, depth + 1)]);
  return Object.fromEntries(members);
};

/** Returns the first `length` UTF-16 units of a string. Drops half of a surrogate pair at the end. */
export const cutText = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** Returns the last `length` UTF-16 units of a string. Drops half of a surrogate pair at the start. */
export const cutStart = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(text.length - length).replace(/^[\udc00-\udfff]/, '');

/** Returns at most `length` UTF-16 units of a string. A shortened string ends with an ellipsis. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${cutText(text, length - 1)}…`;
