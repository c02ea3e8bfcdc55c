import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '../config/settings-error.ts';
import type { RandomSecrets } from '../kit/feature.ts';
import { isObject, parseJson } from '../lib/parse-json.ts';
import { codeOf, explainOpening } from '../storage/journal/errors.ts';
import { createDirectory, createSync } from '../storage/journal/files.ts';
import { replaceFile } from '../storage/replaced-file.ts';

/** Creates secrets that change with each restart. */
export const createTemporarySecrets = (): RandomSecrets => createSecrets(undefined, new Map(), () => undefined);

/**
 * Opens the secrets in the file `secrets.json` of the directory. Only its owner can read the file. Throws a
 * SettingsError if the file cannot be used. `get` throws a SettingsError if a new secret cannot be stored.
 */
export const openStoredSecrets = async (directory: string): Promise<RandomSecrets> => {
  const file = join(directory, 'secrets.json');
  const refuse = (error: unknown): never => {
    throw new SettingsError([
      `dataDir: ${directory} cannot be used: ${explainOpening(error)}; choose another folder with --data-dir`,
    ]);
  };
  await createDirectory(directory, createSync(true)).catch(refuse);
  return createSecrets(file, readSecrets(file, refuse), (secrets) => {
    try {
      replaceFile(file, `${JSON.stringify(secrets, null, 2)}\n`);
    } catch (error) {
      refuse(error);
    }
  });
};

/** Creates random secrets. `keep` stores all secrets before a new one is used. */
const createSecrets = (
  file: string | undefined,
  secrets: Map<string, string>,
  keep: (secrets: Record<string, string>) => void,
): RandomSecrets => ({
  file,
  get: (name, bytes) => {
    const known = secrets.get(name);
    if (known !== undefined) return known;
    const secret = randomBytes(bytes).toString('base64url');
    keep({ ...Object.fromEntries(secrets), [name]: secret });
    secrets.set(name, secret);
    return secret;
  },
});

const readSecrets = (file: string, refuse: (error: unknown) => never): Map<string, string> => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? new Map() : refuse(error);
  }
  const secrets = parseJson(text);
  if (isTexts(secrets)) return new Map(Object.entries(secrets));
  throw new SettingsError([
    `dataDir: ${file} is damaged; restore the file from a backup, or delete the file to create new passwords and a new signing key`,
  ]);
};

const isTexts = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');
