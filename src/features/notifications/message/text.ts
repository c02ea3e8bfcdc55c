/** Characters that end a line, move a cursor, turn the direction of what follows, or are none (RFC 9110, XML 1.0). */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u2028\u2029]+/gu;

/** Text for a header, a title or a subject. */
export const toSingleLine = (text: string): string => text.replaceAll(unprintable, ' ');

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Texts of others must not become elements or attributes, nor turn the direction of what follows, nor be no XML 1.0. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll(/[^\P{Cc}\n\r\t]|[\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}]/gu, ' ')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);

/** The text within `maxBytes` of UTF-8; an ellipsis marks what is cut off. */
export const truncate = (text: string, maxBytes: number): string => {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - 3);
  // A character that was cut in half decodes as U+FFFD.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`;
};

/** The text within so many characters; an ellipsis marks what is cut off. */
export const shorten = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};
