import { fchmodSync, fstatSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { clearProgress } from './progress.ts';

/** Escapes characters that end a line or move the cursor. */
export const escapeControls = (text: string): string =>
  text.replace(/[\p{C}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Escapes control characters in text of several lines. The text may contain tabs. */
export const escapeLines = (text: string): string => text.replace(/[^\n\t]+/g, escapeControls);

/**
 * Escapes characters in JSON that control a terminal or change the direction of text: DEL, C1, and invisible
 * characters. The meaning of the JSON stays the same.
 */
export const escapeJson = (json: string): string =>
  json.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${toHex(character.charCodeAt(index))}`).join(''),
  );

const toHex = (unit: number): string => unit.toString(16).padStart(4, '0');

/** Describes a system error in plain words, such as `no space left on device`. */
export const explainSystemError = ({ errno = 0, message }: NodeJS.ErrnoException): string =>
  getSystemErrorMap().get(errno)?.[1] ?? message;

/** Prints one line on standard error. */
export const say = (text: string): void => {
  clearProgress();
  process.stderr.write(`signalbox: ${escapeControls(text)}\n`);
};

/** Prints on standard output. The process exits if printing fails, silently if the reader has gone away. */
export const print = (text: string): undefined => {
  if (!process.stdout.listeners('error').includes(endUnwritten)) process.stdout.on('error', endUnwritten);
  process.stdout.write(text);
};

const endUnwritten = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'EPIPE') process.exit(0);
  say(`cannot write to standard output: ${explainSystemError(error)}`);
  process.exit(1);
};

/** Makes standard output unreadable to other accounts if it is a file owned by this user. */
export const protectOutput = (): void => {
  const output = fstatSync(1);
  if (output.isFile() && output.uid === process.getuid?.()) fchmodSync(1, 0o600);
};

/** Resolves once everything that was written has left the process. Exiting earlier would cut off output. */
export const flush = async (): Promise<void> => {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((resolve) => stream.once('error', resolve).write('', resolve));
  }
};

/** Reads an input to its end. Stops reading and returns undefined if the input has more than `maxBytes` bytes. */
export const readInput = async (input: NodeJS.ReadableStream, maxBytes: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length > maxBytes) return undefined;
  }
  return Buffer.concat(chunks);
};
