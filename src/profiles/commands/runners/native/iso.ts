/** ISO 8601 in UTC with milliseconds; null stays null. */
export const toIso = (date: Date | null): string | null => (date ? date.toISOString() : null);
