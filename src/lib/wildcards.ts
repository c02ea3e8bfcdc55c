/** True if the text is the pattern, in which each `*` stands for any text. */
export const isLike = (text: string, pattern: string): boolean => createLikeTest(pattern)(text);

/** The test of `isLike` for many texts. */
export const createLikeTest = (pattern: string): ((text: string) => boolean) => createPartsTest(pattern.split('*'));

/** The test of `isLike` in any case, as filters of lists mean a pattern. */
export const createFilterTest = (pattern: string): ((text: string) => boolean) => {
  const isMatch = createLikeTest(pattern.toLowerCase());
  return (text) => isMatch(text.toLowerCase());
};

/** True for texts that consist of these parts, with any text between two of them. Each part is searched for once. */
export const createPartsTest = ([start = '', ...parts]: readonly string[]): ((text: string) => boolean) => {
  const end = parts.pop();
  if (end === undefined) return (text) => text === start;
  return (text) => {
    if (!text.startsWith(start)) return false;
    let at = start.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - end.length >= at && text.endsWith(end);
  };
};
