/**
 * A URL as the log has it: without the query, where people put tokens and passwords, and with what is not printable
 * ASCII percent-encoded. Node gives each byte of a URL as one character (latin1).
 */
export const toLoggedPath = (url: string): string =>
  (url.split('?', 1)[0] ?? '').replace(
    /[^!-~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
