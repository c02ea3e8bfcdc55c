import { createAccessKey, type Scope, scopes } from '../auth/access-keys.ts';
import { UsageError } from './args.ts';

/**
 * Makes a key for a program that cannot log in. The key is shown once, on `messages`; the entry for the config file's
 * `keys` is printed alone on a line, so that it can be redirected.
 */
export const printKey = (
  [name, ...others]: readonly string[],
  asked: readonly string[],
  { output, messages }: { output: NodeJS.WritableStream; messages: NodeJS.WritableStream },
): void => {
  if (name === undefined || name === '' || others.length > 0) {
    throw new UsageError('create-key takes one NAME; see signalbox --help');
  }
  const { key, entry } = createAccessKey(name, toScopes(asked));
  messages.write(
    `Key of ${name}, shown only now: ${key}\nAdd this line to keys in the config file, then send SIGHUP:\n`,
  );
  output.write(`${JSON.stringify(entry)}\n`);
};

const toScopes = (asked: readonly string[]): Scope[] => {
  const unknown = asked.find((scope) => !scopes.includes(scope as Scope));
  if (asked.length === 0 || unknown !== undefined) {
    const found = unknown === undefined ? '' : `, not ${JSON.stringify(unknown)}`;
    throw new UsageError(`create-key needs --scope with one or more of ${scopes.join(', ')}${found}`);
  }
  return [...new Set(asked as Scope[])];
};
