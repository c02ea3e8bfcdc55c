import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const begin = '<!-- figures: begin -->\n';
const end = '<!-- figures: end -->\n';

/** The document with the text between its markers replaced; throws if it has no markers. */
export const insertBetweenMarkers = (document: string, text: string): string => {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the markers ${begin.trim()} and ${end.trim()} are missing`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
};

/**
 * Returns a function that writes a text between the markers of a file, which is created if it is missing; throws at
 * once if the file has no markers.
 */
export const createMarkedWriter = (path: string): ((text: string) => void) => {
  const read = () => (existsSync(path) ? readFileSync(path, 'utf8') : `${begin}${end}`);
  insertBetweenMarkers(read(), '');
  return (text) => writeFileSync(path, insertBetweenMarkers(read(), text));
};
