const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Texts of others must not become elements or attributes, nor turn the direction of what follows, nor be no XML 1.0. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll(/[^\P{Cc}\n\r\t]|[\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}]/gu, ' ')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
