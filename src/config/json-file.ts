import { isObject } from '../lib/parse-json.ts';
import { readSmallFileSync } from '../lib/small-file.ts';
import { MiB } from '../lib/units.ts';
import { SettingsError } from './settings-error.ts';

/**
 * Maximum size of a config file or seed, in bytes. This size suffices for a million tasks, and V8 can hold a string of
 * this size.
 */
const maxBytes = 256 * MiB;

/** Reads a file that contains one JSON object in UTF-8. Throws a SettingsError that names the file and the problem. */
export const readJsonFile = (path: string, what: string): Record<string, unknown> => {
  let text = '';
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readSmallFileSync(path, maxBytes));
    value = JSON.parse(text);
  } catch (error) {
    // The text may contain secrets, so it is not quoted.
    const reason = error instanceof SyntaxError ? `the file is not valid JSON${locateIfShort(text)}` : reasonOf(error);
    throw new SettingsError([`cannot read the ${what} ${path}: ${reason}`]);
  }
  if (!isObject(value)) throw new SettingsError([`the ${what} ${path} must contain one JSON object`]);
  return value;
};

const reasons: Record<string, string> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EISDIR: 'the path is a folder',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'the file is not valid UTF-8',
};

/** Returns a short reason why a file could not be read. */
export const reasonOf = (error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message.replaceAll(/\s+/g, ' ');
};

/**
 * Returns a space and the position of the fault. Empty if the text contains a string that is too long for a regular
 * expression.
 */
const locateIfShort = (text: string): string => {
  try {
    return ` ${locateJsonFault(text)}`;
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
};

/** White space followed by a bracket, a comma, a colon, a string or another scalar. */
const token =
  /[ \t\r\n]*([{}[\],:]|"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))/uy;

/**
 * Characters with which the next token may begin in each state, and the name of the token. `0` stands for a number,
 * true, false or null.
 */
const expectations = {
  value: ['{["0', 'a value'],
  firstValue: ['{["0]', 'a value or "]"'],
  key: ['"', 'a name in double quotes'],
  firstKey: ['"}', 'a name in double quotes or "}"'],
  colon: [':', '":"'],
  inObject: [',}', '"," or "}"'],
  inList: [',]', '"," or "]"'],
  end: ['', 'the end of the file'],
} as const;

const brokenString = 'a string without a closing quote, or with an invalid escape or control character';

type ParserState = keyof typeof expectations;

/** Locates the first syntax error without quoting the text, e.g. `at line 2, column 7: expected ":"`. */
export const locateJsonFault = (text: string): string => {
  const open: string[] = [];
  let state: ParserState = 'value';
  for (token.lastIndex = 0; ; ) {
    const start = token.lastIndex;
    const found = token.exec(text)?.[1];
    const [first = ''] = found ?? '';
    const kind = /[-\dtfn]/.test(first) ? '0' : first;
    const [allowed, name] = expectations[state];
    if (kind === '' || !allowed.includes(kind)) {
      const place = skipSpace(text, start);
      const isString = kind === '' && text[place] === '"' && allowed.includes('"');
      return `${describePlace(text, place)}: ${isString ? brokenString : `expected ${name}`}`;
    }
    if (kind === '{' || kind === '[') open.push(kind);
    if (kind === '}' || kind === ']') open.pop();
    state = findNext(state, kind, open.at(-1));
  }
};

const findNext = (state: ParserState, kind: string, container: string | undefined): ParserState => {
  if (kind === '{') return 'firstKey';
  if (kind === '[') return 'firstValue';
  if (kind === ':') return 'value';
  if (kind === ',') return container === '{' ? 'key' : 'value';
  if (kind === '"' && (state === 'key' || state === 'firstKey')) return 'colon';
  if (container === undefined) return 'end';
  return container === '{' ? 'inObject' : 'inList';
};

/** Returns the offset of the first non-white-space character at or after `offset`. */
const skipSpace = (text: string, offset: number): number => offset + text.slice(offset).search(/[^ \t\r\n]|$/);

/** Describes a position as line and column, both counted from 1. */
const describePlace = (text: string, offset: number): string => {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
};
