const wide = /[^\0-\xff]/;

/** The bytes that V8 keeps of a text: two for each character if one of them needs two. */
export const toTextBytes = (text: string): number => (wide.test(text) ? 2 * text.length : text.length);

/** About the bytes that an entry of a store takes up besides its texts. */
export const entryBytes = 128;

/** About as many characters as the value has as JSON. */
export const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.entries(value).reduce((sum, [key, member]) => sum + key.length + 4 + lengthOf(member), 2);
};
