import { cutText } from '../../../lib/well-formed.ts';

const mark = '…';

/** Characters to remove or replace. Most strings contain none of these characters. */
const unclean = /[\p{Cc}\p{Cs}\u2028\u2029]|^\s|\s$/u;

/**
 * Removes control characters, and turns line breaks and tabs into spaces. Longer text is cut to `limit` characters and
 * ends in `…`.
 */
export const clean = (text: string, limit: number): string => {
  if (text.length <= limit && !unclean.test(text)) return text;
  // Enough of the text to fill the limit, unless it consists mostly of control characters.
  const shown = text
    .slice(0, limit * 4)
    .replaceAll(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .replaceAll(/\p{Cs}/gu, '\ufffd')
    .trim();
  return cut(shown, limit, text.length > limit * 4);
};

/** Cleans each line of a string and cuts the string to `limit` characters. */
export const cleanLines = (text: string, limit: number): string => {
  const lines = text.slice(0, limit * 4).split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  const shown = lines
    .map((line) => clean(line, limit))
    .join('\n')
    .trim();
  return cut(shown, limit, text.length > limit * 4);
};

const cut = (text: string, limit: number, wasCut: boolean): string =>
  text.length <= limit && !wasCut ? text : cutText(text, limit - 1) + mark;
