/** The text within `maxBytes` of UTF-8; an ellipsis marks what is cut off. */
export const truncate = (text: string, maxBytes: number): string => {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - 3);
  // A character that was cut in half decodes as U+FFFD.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`;
};
