import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { hashPassword, isPossiblePassword, maximumPasswordBytes } from '../auth/password.ts';
import { UsageError } from './args.ts';
import { readInput } from './stdio.ts';

/** Longest line ending. */
const lineBreak = '\r\n';

const tooLong = `is longer than ${maximumPasswordBytes} bytes`;

interface Terminal {
  input: NodeJS.ReadStream;
  output: NodeJS.WritableStream;
  messages: NodeJS.WritableStream;
}

/** Reads a password from a prompt without echo, or from standard input, and prints its hash. */
export const printPasswordHash = async (terminal: Terminal): Promise<void> => {
  terminal.output.write(`${await hashPassword(await readNewPassword(terminal))}\n`);
};

/** Reads a password from standard input, or from a prompt without echo. With `isConfirmed`, prompts twice. */
export const readNewPassword = async (
  { input, messages }: Pick<Terminal, 'input' | 'messages'>,
  isConfirmed = false,
): Promise<string> => {
  const password = input.isTTY ? await askPassword(input, messages) : await readPassword(input);
  const problem = findPasswordProblem(password);
  if (problem) throw new UsageError(`the password ${problem}`);
  if (isConfirmed && input.isTTY && (await askPassword(input, messages, 'Again: ')) !== password) {
    throw new UsageError('the passwords differ');
  }
  return password;
};

const findPasswordProblem = (password: string): string | undefined => {
  if (password === '') return 'is empty';
  if (!isPossiblePassword(password)) return tooLong;
  // The input probably contains more than the password.
  if (/[\r\n]/.test(password)) return 'contains a line break';
  return password.includes('\0') ? 'contains a NUL character' : undefined;
};

const askPassword = async (
  input: NodeJS.ReadStream,
  messages: NodeJS.WritableStream,
  question = 'Password: ',
): Promise<string> => {
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: discarded, terminal: true });
  // Written only now, because the terminal echoed until the prompt.
  messages.write(question);
  const password = await prompt.question('');
  prompt.close();
  messages.write('\n');
  return password;
};

/** Reads standard input and removes the line break added by `echo`. */
const readPassword = async (input: NodeJS.ReadStream): Promise<string> => {
  const bytes = await readInput(input, maximumPasswordBytes + lineBreak.length);
  if (!bytes) throw new UsageError(`the password ${tooLong}`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new UsageError('the password is not valid UTF-8');
  }
};
