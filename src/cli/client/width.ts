let segmenter: Intl.Segmenter | undefined;

/** What people take for characters. The segmenter is made when it is needed: most texts are plain. */
const listCharacters = (text: string): string[] => {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
};

/** What terminals show in two columns: East Asian wide characters, and emoji. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f)/u;

const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Columns of a terminal that a text without control characters takes. */
export const toWidth = (text: string): number =>
  isPlain(text) ? text.length : listCharacters(text).reduce((sum, each) => sum + toCharacterWidth(each), 0);

const toCharacterWidth = (character: string): number => (wide.test(character) ? 2 : 1);

/** The text in at most so many columns; `…` stands for the rest. */
export const fitText = (text: string, columns: number): string => {
  // No character takes more than two code units for each of its columns, unless it is made of many.
  if (columns === Number.POSITIVE_INFINITY || toWidth(text) <= columns) return text;
  let shown = '';
  let width = 0;
  for (const character of listCharacters(text)) {
    width += toCharacterWidth(character);
    if (width > columns - 1) break;
    shown += character;
  }
  return `${shown}…`;
};
