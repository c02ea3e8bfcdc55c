/** The widest line of the help. */
const widest = 100;

const leftWidth = 34;

/** Two columns; the right one is wrapped, and begins on a line of its own if the left one is too long. */
export const toColumns = (rows: readonly (readonly string[])[]): string[] =>
  rows.flatMap(([left = '', right = '']) => {
    const lines = wrap(right, widest - leftWidth);
    const first = `  ${left}`;
    const isLong = first.length > leftWidth - 1;
    const begin = isLong ? [first] : [];
    return [
      ...begin,
      ...lines.map((line, index) => `${(index === 0 && !isLong ? first : '').padEnd(leftWidth)}${line}`.trimEnd()),
    ];
  });

/** The words in lines of at most `width` characters. */
export const wrap = (text: string, width = widest): string[] => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};
