/** Code in Markdown, in which an `@` mentions nobody. */
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** `@NAME` that continues no word, address or path. */
const mention = /(?<![\p{L}\p{N}_.@/+-])@([\p{L}\p{N}_.-]+)(?![@/])/gu;

/** Returns the people whom a comment mentions as `@NAME`, each once. */
export const findMentions = (comment: string, people: readonly string[]): string[] => {
  const known = new Set(people);
  const found = Array.from(comment.replace(code, ' ').matchAll(mention), ([, name = '']) =>
    [name, name.replace(/[.-]+$/, '')].find((each) => known.has(each)),
  );
  return [...new Set(found)].filter((name) => name !== undefined);
};
