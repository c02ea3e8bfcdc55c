/** Characters that end lines, move the cursor, change the text direction, or are invalid (RFC 9110, XML 1.0). */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u2028\u2029]+/gu;

/** Converts the text to a single line, for a header, title or subject. */
export const toSingleLine = (text: string): string => text.replaceAll(unprintable, ' ');

/** Cuts the text to `maxBytes` of UTF-8. A text that was cut ends with an ellipsis. */
export const truncate = (text: string, maxBytes: number): string => {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - 3);
  // An incomplete character at the end decodes as U+FFFD.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`;
};
