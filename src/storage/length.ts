/** About as many characters as the value has as JSON. */
export const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.entries(value).reduce((sum, [key, member]) => sum + key.length + 4 + lengthOf(member), 2);
};
