/** Whether the text is the pattern, in which each `*` stands for any text. */
export const isLike = (text: string, pattern: string): boolean => createLikeTest(pattern)(text);

/** The same for many texts. */
export const createLikeTest = (pattern: string): ((text: string) => boolean) => {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return (text) => text === pattern;
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
