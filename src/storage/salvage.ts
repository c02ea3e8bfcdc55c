import { isObject, parseJson } from '../lib/parse-json.ts';

/**
 * Separator between entries. Keeps damage from spreading to other entries, because JSON texts contain no line breaks.
 */
export const entryBreak = ',\n';

/**
 * Returns the undamaged objects of a damaged array. In an array without line breaks, the first member of an object
 * distinguishes entries from nested objects.
 */
export const salvage = (text: string): unknown[] => {
  const inner = text.replace(/^\[|\]\n?$/g, '');
  if (inner.includes(entryBreak)) return inner.split(entryBreak).map(parseJson).filter(isObject);
  const [, first] = /^\{"(\w+)":/.exec(inner) ?? [];
  return inner
    .split(/(?<=\}),(?=\{")/)
    .map(parseJson)
    .filter((entry) => isObject(entry) && Object.keys(entry)[0] === first);
};
