/** Returns the value of a JSON text. Undefined if the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the entries of a JSON list that pass the test. Empty if the text is not a list. */
export const parseJsonList = <T>(text: string, isEntry: (value: unknown) => value is T): T[] => {
  const list = parseJson(text);
  return Array.isArray(list) ? list.filter(isEntry) : [];
};

/** True for an object that is not a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
