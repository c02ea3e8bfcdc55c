/** A name and a password before the host of an absolute URI (RFC 3986, 3.2.1). */
const userInfo = /^(\w+:\/\/)[^/]*@/;

/** What looks like a JSON Web Token: three parts, the first of which begins with `{"` in base64url. */
const token = /eyJ[\w-]*\.[\w-]*\.[\w-]*/g;

/**
 * A URL as the log has it: without query and fragment, where people put tokens and passwords, without what stands before
 * the host, without tokens in the path, and with what is not printable ASCII percent-encoded. Node gives each byte of a
 * URL as one character (latin1).
 */
export const toLoggedPath = (url: string): string =>
  (url.split(/[?#]|%3f|%23/i, 1)[0] ?? '')
    .replace(userInfo, '$1')
    .replace(token, '(token)')
    .replace(/[^!-~]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
