import { isObject, parseJson } from '../lib/parse-json.ts';

/** Between the entries of an array whose damage costs no more than the entries that have it: JSON has no line break of its own. */
export const entryBreak = ',\n';

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
