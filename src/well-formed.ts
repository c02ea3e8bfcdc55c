/** An escape in JSON: a pair of surrogates, half of one, or any other. */
const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** JSON with U+FFFD in place of each half of a surrogate pair. UTF-8 has none, so only escapes can stand for one. */
export const makeJsonWellFormed = (json: string): string =>
  /\\u[dD]/.test(json)
    ? json.replace(escapes, (whole: string, half: string | undefined) => (half === undefined ? whole : '\\ufffd'))
    : json;

/** Lists and objects below so many others stay as they are. */
const deepest = 16;

/** A value with U+FFFD in place of each half of a surrogate pair in its texts; the same value if there is none. */
export const makeWellFormed = <T>(value: T, depth = 0): T => toWellFormed(value, depth) as T;

const fill = (text: string): string => text.replaceAll(/\p{Cs}/gu, '\ufffd');

const toWellFormed = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return fill(value);
  if (typeof value !== 'object' || value === null || depth > deepest) return value;
  if (Array.isArray(value)) {
    const members = value.map((member) => toWellFormed(member, depth + 1));
    return members.every((member, index) => member === value[index]) ? value : members;
  }
  const entries = Object.entries(value);
  const changed = entries.map(([name, member]) => [fill(name), toWellFormed(member, depth + 1)] as const);
  const isSame = changed.every(([name, member], at) => name === entries[at]?.[0] && member === entries[at]?.[1]);
  return isSame ? value : Object.fromEntries(changed);
};

/** The first `length` UTF-16 units of a text, without half a surrogate pair at the end. */
export const cutText = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
