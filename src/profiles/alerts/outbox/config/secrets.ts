import { readFileSync } from 'node:fs';

interface Given {
  secret?: string | string[];
  secretFile?: string | string[];
}

/** The secrets of a destination, the current one first. Throws an Error whose message shows no secret. */
export const readSecrets = ({ secret = [], secretFile = [] }: Given): string[] => {
  const texts = toList(secret);
  const files = toList(secretFile);
  if (texts.length > 0 && files.length > 0) throw new Error('give secret or secretFile, not both');
  return [...texts, ...files.map(readSecret)];
};

const toList = (value: string | string[]): string[] => (typeof value === 'string' ? [value] : value);

const readSecret = (path: string): string => {
  const secret = readText(path).trim();
  if (secret === '') throw new Error(`secretFile ${path} is empty`);
  return secret;
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot read secretFile ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
};
