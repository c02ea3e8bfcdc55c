/** Formats a count with its noun in the singular or plural. */
export const counted = (count: string, one: string, many = `${one}s`): string =>
  `${count} ${count === '1' ? one : many}`;

/** Formats the number shown and the total, with the noun. Formats only the total if all are shown. */
export const countedOf = (shown: string, all: string, one: string, many?: string): string =>
  shown === all ? counted(all, one, many) : `${shown} of ${counted(all, one, many)}`;
