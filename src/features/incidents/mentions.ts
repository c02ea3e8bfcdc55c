/** Code in Markdown. An `@` in code mentions nobody. */
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** `@NAME`, unless it continues a word, address or path. */
const mention = /(?<![\p{L}\p{N}_.@/+-])@([\p{L}\p{N}_.-]+)(?![@/])/gu;

/** Returns the people mentioned in a comment as `@NAME`. Each is returned only once. */
export const findMentions = (comment: string, people: readonly string[]): string[] => {
  const known = new Set(people);
  const found = Array.from(comment.replace(code, ' ').matchAll(mention), ([, name = '']) =>
    [name, name.replace(/[.-]+$/, '')].find((each) => known.has(each)),
  );
  return [...new Set(found)].filter((name) => name !== undefined);
};
