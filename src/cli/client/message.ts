import { UsageError } from '../args.ts';
import { maxBodyBytes } from './deliver.ts';

/**
 * The message of an alert: the words, or standard input if there is none, or only `-`. What is not UTF-8 becomes U+FFFD.
 * Throws a UsageError for an empty message and one above 1 MiB.
 */
export const readMessage = async (words: readonly string[], input: NodeJS.ReadableStream): Promise<string> => {
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === '-');
  const message = isPiped ? (await readAll(input)).replace(/[\r\n]+$/, '') : words.join(' ');
  if (message.trim() === '') throw new UsageError('the message is empty');
  return message;
};

const readAll = async (input: NodeJS.ReadableStream): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length > maxBodyBytes) throw new UsageError('the message is longer than 1 MiB');
  }
  return Buffer.concat(chunks).toString();
};
