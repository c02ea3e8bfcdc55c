const newline = 10;

/**
 * Cuts output into lines. `onLine` gets undefined for a line of more than `maxBytes`, which is never held in
 * memory, and returns false when it wants no more.
 */
export const createLineReader = (
  onLine: (line: string | undefined) => boolean,
  maxBytes: number,
): ((piece: Buffer) => boolean) => {
  const current = createLine(maxBytes);
  return (piece) => {
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      current.add(piece.subarray(start, end));
      if (!onLine(current.take())) return false;
      start = end + 1;
    }
    current.add(piece.subarray(start));
    return true;
  };
};

/** A line that comes in parts. */
const createLine = (maxBytes: number) => {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    add: (part: Buffer): void => {
      bytes += part.length;
      if (bytes > maxBytes) parts = [];
      else parts.push(part);
    },
    take: (): string | undefined => {
      const line = bytes > maxBytes ? undefined : Buffer.concat(parts).toString();
      parts = [];
      bytes = 0;
      return line;
    },
  };
};
