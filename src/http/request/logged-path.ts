/** User name and password before the host of an absolute URI (RFC 3986, 3.2.1). */
const userInfo = /^(\w+:\/\/)[^/]*@/;

/** Looks like a JSON Web Token: three parts, the first of which begins with `{"` in base64url. */
const token = /eyJ[\w-]*\.[\w-]*\.[\w-]*/g;

/** Looks like a key of the setting `keys`, or a part of one. */
const key = /sbk_[0-9A-Za-z]+/g;

/**
 * The path of a URL for the log. Query and fragment, which may hold tokens and passwords, are left out, as are the user
 * name before the host, and tokens and keys in the path. Bytes that are not printable ASCII are percent-encoded: Node returns each
 * byte of a URL as one character (latin1).
 */
export const toLoggedPath = (url: string): string =>
  (url.split(/[?#]|%3f|%23/i, 1)[0] ?? '')
    .replace(userInfo, '$1')
    .replace(token, '(token)')
    .replace(key, '(key)')
    .replace(/[^!-~]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
