import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const begin = '<!-- figures: begin -->\n';
const end = '<!-- figures: end -->\n';

/** The document with a text in place of what stood between its markers; throws where it has none. */
export const insertBetweenMarkers = (document: string, text: string): string => {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no place between ${begin.trim()} and ${end.trim()}`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
};

/** What writes a text between the markers of a file, which is made if need be; throws at once where it has none. */
export const createMarkedWriter = (path: string): ((text: string) => void) => {
  const read = () => (existsSync(path) ? readFileSync(path, 'utf8') : `${begin}${end}`);
  insertBetweenMarkers(read(), '');
  return (text) => writeFileSync(path, insertBetweenMarkers(read(), text));
};
