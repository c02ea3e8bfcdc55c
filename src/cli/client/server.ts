import { otherVariables } from '../../config/names.ts';
import { toFlag, UsageError } from '../args.ts';

/** Where alerts are sent. */
export interface AlertServer {
  /** Ends with `/`; its path is a mount, or a proxy's prefix. */
  url: URL;
  key: string | undefined;
}

/** A server with default settings. */
export const defaultUrl = 'http://127.0.0.1:8080';

/** The levels that the console and deliveries know by name. */
const levels = ['CRITICAL', 'ERROR', 'WARNING', 'INFO'];

/** Flags of commands that send alerts. */
export const clientFlags = {
  source: { value: 'NAME', summary: 'Source of the alert.' },
  level: {
    value: 'LEVEL',
    summary: `Level of the alert: ${levels.join(', ')} or any other text.`,
    choices: levels,
  },
  key: {
    value: 'KEY',
    summary: 'What the alert is about: one that is resolved ends those that fire with the same key.',
  },
  url: { value: 'URL', summary: `Server to send it to, instead of ${otherVariables.url}.` },
  retryFor: { value: 'SECONDS', isNumber: true, summary: 'How long to try while the server is away. Default 60.' },
} as const;

/** Variables of commands that send alerts. */
export const clientVariables = {
  XDG_STATE_HOME:
    'Folder in which alerts that cannot be delivered are kept, in signalbox/spool. Default ~/.local/state.',
  [otherVariables.url]: `Server to send alerts to, with the path of a mount if it has one. Default ${defaultUrl}.`,
  [otherVariables.key]: 'Key from create-key with the scope alerts:write, if the server asks for one.',
};

/** The server that the flag `--url` or the variables name. Throws a UsageError, which never shows the key. */
export const readServer = (flag: string | undefined): AlertServer => {
  const { [otherVariables.url]: variable, [otherVariables.key]: key } = process.env;
  const url = flag === undefined ? toServerUrl(variable || defaultUrl, otherVariables.url) : toServerUrl(flag, '--url');
  if (key !== undefined && !/^[!-~]*$/.test(key.trim())) {
    throw new UsageError(`${otherVariables.key} must be a key that signalbox create-key has printed`);
  }
  return { url, key: key?.trim() || undefined };
};

/** What an alert is about. Throws a UsageError. */
export const readAlertKey = (key: string): string => {
  if (key.startsWith('sbk_')) {
    throw new UsageError(
      `--key says what the alert is about; the key of the server belongs into ${otherVariables.key}`,
    );
  }
  if (key === '' || key.length > 256) throw new UsageError('--key must have 1 to 256 characters');
  return key;
};

/** The longest time that timers can wait is 24 days. */
const mostSeconds = 2_000_000;

/** Milliseconds of a flag's value in seconds. Throws a UsageError. */
export const toMilliseconds = (flag: string, text: string): number => {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= mostSeconds) return seconds * 1000;
  throw new UsageError(`${toFlag(flag)} must be seconds from 0 to ${mostSeconds}, not ${JSON.stringify(text)}`);
};

/** A URL that ends with `/`. `place` says where it came from. */
export const toServerUrl = (text: string, place: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`${place} must be a URL like ${defaultUrl}, not ${JSON.stringify(text)}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${place} must be a URL without user name, password, query and fragment`);
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return url;
};
