/** Wildcards in PowerShell names. `any` matches any number of characters, including none. `one` matches exactly one. */
export const nameWildcards = { any: '*', one: '?' };

/** Wildcards of WQL's LIKE. */
export const likeWildcards = { any: '%', one: '_' };

export const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern);

/** Creates a matcher of whole strings that ignores case. Never takes more than pattern × text steps. */
export const createTextMatcher = (pattern: string, { any, one }: typeof nameWildcards): ((text: string) => boolean) => {
  const wanted = [...pattern.toLowerCase()];
  return (text) => {
    const given = [...text.toLowerCase()];
    let at = 0;
    let next = 0;
    let resume: { wanted: number; given: number } | undefined;
    while (next < given.length) {
      if (wanted[at] === any) {
        at += 1;
        resume = { wanted: at, given: next };
      } else if (at < wanted.length && (wanted[at] === one || wanted[at] === given[next])) {
        at += 1;
        next += 1;
      } else if (resume) {
        resume.given += 1;
        at = resume.wanted;
        next = resume.given;
      } else return false;
    }
    return wanted.slice(at).every((character) => character === any);
  };
};

/** Creates a matcher of strings that match at least one of the patterns. */
export const createAnyMatcher = (patterns: readonly string[]): ((text: string) => boolean) => {
  const matchers = patterns.map((pattern) => createTextMatcher(pattern, nameWildcards));
  return (text) => matchers.some((matches) => matches(text));
};
