const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML and XML 1.0, and removes characters that change the text direction or are invalid. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll(/[^\P{Cc}\n\r\t]|[\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}]/gu, ' ')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
