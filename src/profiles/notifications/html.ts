const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Texts of others must not become elements or attributes, nor turn the direction of what follows. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll(/[^\P{Cc}\n\r\t]|\p{Bidi_Control}/gu, ' ')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
