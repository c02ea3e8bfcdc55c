/** Maximum length in characters of a watch's or heartbeat's name. */
const maxLength = 64;

/** Name for an imported setting, and a note if the name differs from the original. */
export interface ImportedName {
  name: string;
  note: string | undefined;
}

/**
 * Creates a function that converts another program's names to unique names of watches and heartbeats, made of letters,
 * digits, `.`, `_` and `-`. The same originals in the same order always give the same names.
 */
export const createImportedNames = (): ((original: string) => ImportedName) => {
  const used = new Set<string>();
  return (original) => {
    const plain = original
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+|-+$/g, '')
      .slice(0, maxLength);
    const base = plain === '' ? 'imported' : plain;
    let name = base;
    for (let count = 2; used.has(name); count += 1) name = `${base.slice(0, maxLength - 6)}-${count}`;
    used.add(name);
    return { name, note: name === original ? undefined : `was "${original}"` };
  };
};
