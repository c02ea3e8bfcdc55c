/** Code in Markdown, in which an `@` mentions nobody. */
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** `@NAME` that does not continue a word, address or path. */
const mention = /(?<![\p{L}\p{N}_.@/+-])@([\p{L}\p{N}_.-]+)(?![@/])/gu;

/** Returns the people mentioned in a comment as `@NAME`, each only once. */
export const findMentions = (comment: string, people: readonly string[]): string[] => {
  const known = new Set(people);
  const found = Array.from(comment.replace(code, ' ').matchAll(mention), ([, name = '']) =>
    [name, name.replace(/[.-]+$/, '')].find((each) => known.has(each)),
  );
  return [...new Set(found)].filter((name) => name !== undefined);
};
