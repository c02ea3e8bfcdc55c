/** Between the entries of an array whose damage costs no more than the entries that have it: JSON has no line break of its own. */
export const entryBreak = ',\n';

/** The value of JSON; undefined where it is damaged. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The objects that are whole in a damaged array. Without line breaks they begin with the same member, unlike objects in them. */
export const salvage = (text: string): unknown[] => {
  const inner = text.replace(/^\[|\]\n?$/g, '');
  if (inner.includes(entryBreak)) return inner.split(entryBreak).map(parseJson).filter(isObject);
  const [, first] = /^\{"(\w+)":/.exec(inner) ?? [];
  return inner
    .split(/(?<=\}),(?=\{")/)
    .map(parseJson)
    .filter((entry) => isObject(entry) && Object.keys(entry)[0] === first);
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
