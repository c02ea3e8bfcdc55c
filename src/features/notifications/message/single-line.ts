/** Characters that end a line, move a cursor, turn the direction of what follows, or are none (RFC 9110, XML 1.0). */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u2028\u2029]+/gu;

/** Text for a header, a title or a subject. */
export const toSingleLine = (text: string): string => text.replaceAll(unprintable, ' ');
