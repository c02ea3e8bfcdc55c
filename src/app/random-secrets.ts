import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '../config/settings-error.ts';
import type { RandomSecrets } from '../profiles/feature.ts';
import { codeOf, explainOpening } from '../storage/journal/errors.ts';
import { createDirectory, createSync } from '../storage/journal/files.ts';
import { replaceFile } from '../storage/snapshot.ts';

/** Secrets that are other ones after a restart. */
export const createPassingSecrets = (): RandomSecrets => createSecrets(undefined, new Map(), () => undefined);

/**
 * Secrets in the file `secrets.json` of the directory, which only its owner can read. Throws a SettingsError if the file
 * cannot be used; so does `get` if a new secret cannot be kept.
 */
export const openKeptSecrets = async (directory: string): Promise<RandomSecrets> => {
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

/** `keep` gets all secrets before a new one is used. */
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
  try {
    const entries = Object.entries(toObject(readFileSync(file, 'utf8')));
    if (entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')) return new Map(entries);
    throw new SyntaxError('values must be texts');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map();
    if (!(error instanceof SyntaxError)) return refuse(error);
    throw new SettingsError([
      `dataDir: ${file} is damaged; restore it from a backup, or delete it for new passwords and a new signing key`,
    ]);
  }
};

const toObject = (text: string): object => {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new SyntaxError('must be an object');
};
