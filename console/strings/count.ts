/** A count, already formatted, with its noun. */
export const counted = (count: string, one: string, many = `${one}s`): string =>
  `${count} ${count === '1' ? one : many}`;

/** How many of all are shown; only the count if all are. */
export const countedOf = (shown: string, all: string, one: string, many?: string): string =>
  shown === all ? counted(all, one, many) : `${shown} of ${counted(all, one, many)}`;
