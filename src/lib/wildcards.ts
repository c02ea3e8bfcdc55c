/** True if the text matches the pattern. Each `*` in the pattern matches any text. */
export const isLike = (text: string, pattern: string): boolean => createLikeTest(pattern)(text);

/** Creates a function that tests many strings like `isLike`. */
export const createLikeTest = (pattern: string): ((text: string) => boolean) => createPartsTest(pattern.split('*'));

/** Creates a function that tests strings like `isLike` but ignores case. For list filters. */
export const createFilterTest = (pattern: string): ((text: string) => boolean) => {
  const isMatch = createLikeTest(pattern.toLowerCase());
  return (text) => isMatch(text.toLowerCase());
};

/**
 * Creates a test for strings that consist of these parts in this order, with any text between them. Searches for each
 * part only once.
 */
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
