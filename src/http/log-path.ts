/** What looks like a JSON Web Token: three parts, the first of which begins with `{"` in base64url. */
const token = /eyJ[\w-]*\.[\w-]*\.[\w-]*/g;

/**
 * A URL as the log has it: without the query, where people put tokens and passwords, without tokens in the path, and with
 * what is not printable ASCII percent-encoded. Node gives each byte of a URL as one character (latin1).
 */
export const toLoggedPath = (url: string): string =>
  (url.split('?', 1)[0] ?? '')
    .replace(token, '(token)')
    .replace(/[^!-~]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
