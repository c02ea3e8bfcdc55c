/** Formats a duration, such as `2 h 5 min`. Rounds to minutes, or to hours for a day or more. */
export const toDurationText = (ms: number): string => {
  const minutes = Math.round(Math.max(0, ms) / 60_000);
  if (minutes === 0) return `${Math.max(1, Math.round(ms / 1000))} s`;
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = [
    ...(days > 0 ? [`${days} d`] : []),
    ...(hours > 0 ? [`${hours} h`] : []),
    ...(days === 0 && minutes % 60 > 0 ? [`${minutes % 60} min`] : []),
  ];
  return parts.join(' ');
};

const units = { second: 1000, minute: 60_000, hour: 3_600_000 };

/** Parses a duration such as `90 seconds`, `5 minutes` or `1 hour` to milliseconds. Undefined for any other text. */
export const parseDuration = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,6}) ?(second|minute|hour)s?$/.exec(text.trim()) ?? [];
  return unit === undefined ? undefined : Number(count) * units[unit as keyof typeof units];
};

/** Formats a duration in the form that `parseDuration` reads, using its largest whole unit. */
export const toDurationWords = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  const [unit = 'second', size = 1000] =
    Object.entries(units).findLast(([, each]) => seconds > 0 && (seconds * 1000) % each === 0) ?? [];
  const count = (seconds * 1000) / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};
