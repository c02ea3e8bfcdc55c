import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const begin = '<!-- figures: begin -->\n';
const end = '<!-- figures: end -->\n';

/** The document with a text in place of what stood between its markers; just the text where it has none. */
export const insertBetweenMarkers = (document: string, text: string): string => {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) return text;
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
};

/** Writes a text to a file, between its markers where it has them. */
export const writeBetweenMarkers = (path: string, text: string): void => {
  writeFileSync(path, insertBetweenMarkers(existsSync(path) ? readFileSync(path, 'utf8') : '', text));
};
