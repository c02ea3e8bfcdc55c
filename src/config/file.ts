import { readFileSync } from 'node:fs';
import { locateJsonFault } from './json-fault.ts';
import { SettingsError } from './settings-error.ts';

/** Reads a file with one JSON object in UTF-8; throws a SettingsError that names the file and the problem. */
export const readJsonFile = (path: string, what: string): Record<string, unknown> => {
  let text = '';
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    value = JSON.parse(text);
  } catch (error) {
    // The text may contain secrets, so it is not quoted.
    const reason = error instanceof SyntaxError ? `it is not valid JSON${locate(text)}` : reasonOf(error);
    throw new SettingsError([`cannot read the ${what} ${path}: ${reason}`]);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SettingsError([`the ${what} ${path} must contain one JSON object`]);
  }
  return value as Record<string, unknown>;
};

/** The place of the fault after a space; empty if the text holds a string too long for a regular expression. */
const locate = (text: string): string => {
  try {
    return ` ${locateJsonFault(text)}`;
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
};

/** A short reason why a file could not be read. */
export const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: 'the file does not exist',
    EACCES: 'permission denied',
    EISDIR: 'it is a folder',
    ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not valid UTF-8',
  };
  return reasons[code ?? ''] ?? message.replaceAll(/\s+/g, ' ');
};
