/** Escapes characters that end a line or move the cursor. */
export const escapeControls = (text: string): string =>
  text.replace(/[\p{C}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Prints one line on standard error. */
export const say = (text: string): void => {
  process.stderr.write(`signalbox: ${escapeControls(text)}\n`);
};

export const print = (text: string): void => {
  process.stdout.write(text);
};

/** Resolves once everything written has left the process: exiting during a write would cut it off. */
export const flush = async (): Promise<void> => {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((resolve) => stream.once('error', resolve).write('', resolve));
  }
};
