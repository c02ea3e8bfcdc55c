import { scopes } from '../../auth/access.ts';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { print } from '../messages.ts';

/**
 * Makes a key for a program that cannot log in. The key is shown once, on stderr; the entry for the config file's `keys`
 * is printed alone on a line, so that it can be redirected.
 */
export const createKey = defineCommand({
  name: 'create-key',
  argument: { name: 'NAME' },
  summary: 'Print a new key for a program that cannot log in, and its entry for the setting keys.',
  flags: {
    scope: {
      value: 'SCOPE',
      isList: true,
      summary: 'What the key may do; give the flag once for each scope.',
      choices: scopes,
    },
  },
  run: async ({ words: [name = ''], own: { scope: asked = [] } }) => {
    const { createAccessKey, isKeyName } = await import('../program.ts');
    const unknown = asked.find((one) => !scopes.some((scope) => scope === one));
    if (asked.length === 0 || unknown !== undefined) {
      const found = unknown === undefined ? '' : `, not ${JSON.stringify(unknown)}`;
      throw new UsageError(`create-key needs --scope with one or more of ${scopes.join(', ')}${found}`);
    }
    if (!isKeyName(name)) {
      throw new UsageError(`NAME must be a name without control characters, not ${JSON.stringify(name)}`);
    }
    const { key, entry } = createAccessKey(
      name,
      scopes.filter((scope) => asked.includes(scope)),
    );
    process.stderr.write(
      `Key of ${name}, shown only now: ${key}\nAdd this line to keys in the config file, then send SIGHUP:\n`,
    );
    print(`${JSON.stringify(entry)}\n`);
    return undefined;
  },
});
