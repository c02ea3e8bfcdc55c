import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { hashPassword, maximumPasswordBytes } from '../auth/password.ts';
import { UsageError } from './args.ts';

interface Terminal {
  input: NodeJS.ReadStream;
  output: NodeJS.WritableStream;
  messages: NodeJS.WritableStream;
}

/** Reads a password, from a prompt that shows nothing or from standard input, and prints its hash. */
export const printPasswordHash = async ({ input, output, messages }: Terminal): Promise<void> => {
  const password = input.isTTY ? await askPassword(input, messages) : await readAll(input);
  if (password === '') throw new UsageError('the password is empty');
  if (Buffer.byteLength(password) > maximumPasswordBytes) {
    throw new UsageError(`the password is longer than ${maximumPasswordBytes} bytes`);
  }
  output.write(`${await hashPassword(password)}\n`);
};

const askPassword = async (input: NodeJS.ReadStream, messages: NodeJS.WritableStream): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: nowhere, terminal: true });
  // Only now does the terminal no longer show what is typed.
  messages.write('Password: ');
  const password = await prompt.question('');
  prompt.close();
  messages.write('\n');
  return password;
};

/** Standard input to its end, without the line break that `echo` adds. */
const readAll = async (input: NodeJS.ReadStream): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
};
