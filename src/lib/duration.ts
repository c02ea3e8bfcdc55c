/** Returns a duration such as `2 h 5 min`, rounded to minutes, or to hours if at least a day. */
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
