import type { TSchema } from 'typebox';

/** Converts a key to the name of its flag: `dataDir` → `data-dir`. */
export const toFlagName = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Converts a key to its environment variable: `dataDir` → `SIGNALBOX_DATA_DIR`. */
export const toVariableName = (key: string): string =>
  `SIGNALBOX_${toFlagName(key).replaceAll('-', '_').toUpperCase()}`;

/**
 * Variables that are not settings: the path of the config file, the server and key for client commands, the key for the
 * hub, and the key for another program whose data is imported.
 */
export const otherVariables = {
  config: 'SIGNALBOX_CONFIG',
  url: 'SIGNALBOX_URL',
  key: 'SIGNALBOX_KEY',
  hubKey: 'SIGNALBOX_HUB_KEY',
  importKey: 'SIGNALBOX_IMPORT_KEY',
};

/** True if the setting's value must never be shown. */
export const isSecretSetting = (schema: TSchema): boolean => 'writeOnly' in schema;

/** Returns the form of a value in a flag or variable. `none` if only the config file can contain the value. */
export const textForm = (schema: TSchema): 'flag' | 'integer' | 'number' | 'list' | 'string' | 'none' => {
  const { type, items } = schema as { type?: string; items?: { type?: string } };
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return type;
  if (type === 'array') return items?.type === 'string' ? 'list' : 'none';
  return type === 'object' ? 'none' : 'string';
};

/** True if the setting has a flag. */
export const isFlag = (schema: TSchema): boolean => !isSecretSetting(schema) && textForm(schema) !== 'none';

const booleans = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

/**
 * Parses the text of a flag or variable. Text that cannot be parsed is returned unchanged and fails validation later.
 */
export const fromText = (schema: TSchema, text: string): unknown => {
  switch (textForm(schema)) {
    case 'flag':
      return booleans.get(text.toLowerCase()) ?? text;
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
    case 'list':
      return text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
    default:
      return text;
  }
};

/** Returns `; did you mean --port?` if one of the names resembles the given name. Otherwise returns an empty string. */
export const suggest = (given: string, names: readonly string[], quote = ''): string => {
  const allowed = Math.max(1, Math.floor(normalise(given).length / 4));
  const distances = names.map((name) => ({ name, distance: measure(normalise(given), normalise(name)) }));
  const nearest = distances.sort((a, b) => a.distance - b.distance)[0];
  return nearest && nearest.distance <= allowed ? `; did you mean ${quote}${nearest.name}${quote}?` : '';
};

/**
 * Normalizes names that differ only in how words are separated, such as `SIGNALBOX_DATA_DIR`, `--data-dir` and
 * `dataDir`.
 */
export const normalise = (name: string): string =>
  name
    .replace(/^SIGNALBOX_/i, '')
    .replaceAll(/[-_. ]/g, '')
    .toLowerCase();

/** Returns the edit distance, counting a swap of two adjacent characters as one edit. */
const measure = (from: string, to: string): number => {
  if (Math.abs(from.length - to.length) > Math.max(from.length, 8) / 4) return Number.POSITIVE_INFINITY;
  let [earlier, previous]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const options = [previous[column - 1], previous[column], current[column - 1]].map((value) => Number(value) + 1);
      if (same) options.push(Number(previous[column - 1]));
      if (swapped) options.push(Number(earlier[column - 2]) + 1);
      current.push(Math.min(...options));
    }
    [earlier, previous] = [previous, current];
  }
  return Number(previous[to.length]);
};

/** Name of the agent's socket in the agent's data folder. */
export const agentSocket = 'agent.sock';
