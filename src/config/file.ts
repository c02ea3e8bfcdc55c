import { readFileSync } from 'node:fs';
import { SettingsError } from './settings-error.ts';

/** Reads a file with one JSON object in UTF-8; throws a SettingsError that names the file and the problem. */
export const readJsonFile = (path: string, what: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)));
  } catch (error) {
    throw new SettingsError([`cannot read the ${what} ${path}: ${reasonOf(error)}`]);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SettingsError([`the ${what} ${path} must hold one JSON object`]);
  }
  return value as Record<string, unknown>;
};

/** Why a file could not be read, in a few words. */
export const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof SyntaxError) return describeSyntaxError(message);
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a folder',
    ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not valid UTF-8',
  };
  return reasons[code ?? ''] ?? message.replaceAll(/\s+/g, ' ');
};

/** Where the text stops being JSON, if known; the text itself may be a secret and is not repeated. */
const describeSyntaxError = (message: string): string => {
  const place = /at position \d+/.exec(message)?.[0];
  return `it is not valid JSON${place === undefined ? '' : ` ${place}`}`;
};
