/** Plain address without a display name, spaces or line breaks. Quoted local parts are not supported. */
const form =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Maximum length of an address in characters (RFC 5321). */
const maxLength = 254;

export const isMailAddress = (text: string): boolean => text.length <= maxLength && form.test(text);
