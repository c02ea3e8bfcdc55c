/** The value of a JSON text; undefined where it is none. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The entries of a JSON list that pass the test; none where the text is no list. */
export const parseJsonList = <T>(text: string, isEntry: (value: unknown) => value is T): T[] => {
  const list = parseJson(text);
  return Array.isArray(list) ? list.filter(isEntry) : [];
};

/** True for an object that is no list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
