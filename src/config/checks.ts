import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { createSecureContext } from 'node:tls';
import { getHeapStatistics } from 'node:v8';
import { findKeyProblems } from '../auth/access.ts';
import { readSmallFileSync } from '../lib/small-file.ts';
import { findTimeZone } from '../lib/time-zone.ts';
import { reasonOf } from './json-file.ts';
import type { Settings } from './schema.ts';
import { SettingsError } from './settings-error.ts';

/** Minimum length of a key for HS256 in bytes (RFC 7518, 3.2). */
export const minimumSecretBytes = 32;

const mebibyte = 2 ** 20;

/** Returns conflicts between settings that are valid by themselves. Each conflict is a clause without secrets. */
export const findConflicts = (settings: Settings): string[] => {
  const { headersTimeout, requestTimeout, trustProxy, powershellPath, timeZone, storeMaxBytes = 0, keys } = settings;
  const problems = trustProxy
    .filter((block) => !isAddressBlock(block))
    .map(
      (block) => `trustProxy must contain addresses and CIDR blocks such as 10.0.0.0/8, not ${JSON.stringify(block)}`,
    );
  if (headersTimeout > requestTimeout) {
    problems.push(`headersTimeout ${headersTimeout} must not exceed requestTimeout ${requestTimeout}`);
  }
  problems.push(...findSecretProblems(settings));
  if (powershellPath !== undefined && !isAbsolute(powershellPath)) {
    problems.push(`powershellPath must be an absolute path, not ${JSON.stringify(powershellPath)}`);
  }
  if (timeZone !== undefined && findTimeZone(timeZone) === undefined) {
    problems.push(`timeZone must be a name such as Europe/Berlin or UTC, not ${JSON.stringify(timeZone)}`);
  }
  const heapBytes = getHeapStatistics().heap_size_limit;
  if (storeMaxBytes > heapBytes) {
    problems.push(
      `storeMaxBytes ${storeMaxBytes} is more than the ${heapBytes} bytes of the JavaScript heap; ` +
        `lower storeMaxBytes, or start with NODE_OPTIONS=--max-old-space-size=${Math.ceil((2 * storeMaxBytes) / mebibyte)}`,
    );
  }
  return [...problems, ...findKeyProblems(keys)];
};

/**
 * True for an address or a CIDR block. Refuses `/0`, because if every address were trusted, clients could forge their
 * own.
 */
const isAddressBlock = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  const bits = family === 6 ? 128 : 32;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
};

const findSecretProblems = ({ jwtSecret, jwtPreviousSecret }: Settings): string[] => {
  const problems: string[] = [];
  for (const [name, secret] of Object.entries({ jwtSecret, jwtPreviousSecret })) {
    const bytes = secret === undefined ? minimumSecretBytes : Buffer.byteLength(secret);
    if (bytes < minimumSecretBytes) {
      problems.push(`${name} must be at least ${minimumSecretBytes} bytes long, not ${bytes}`);
    }
  }
  if (jwtPreviousSecret !== undefined && jwtSecret === undefined) {
    problems.push('jwtPreviousSecret has no effect without jwtSecret: set both');
  }
  if (jwtPreviousSecret !== undefined && jwtPreviousSecret === jwtSecret) {
    problems.push('jwtPreviousSecret must differ from jwtSecret');
  }
  return problems;
};

/** Sets the time zone of the process to the setting `timeZone`. */
export const applyTimeZone = ({ timeZone }: Pick<Settings, 'timeZone'>): void => {
  if (timeZone !== undefined) process.env['TZ'] = findTimeZone(timeZone);
};

/**
 * Reads the certificate and key named in the settings. Undefined without these settings. Throws a SettingsError if they
 * do not belong together.
 */
export const readCertificate = ({ tlsCert, tlsKey }: Settings): { cert: Buffer; key: Buffer } | undefined => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new SettingsError([
      `${tlsCert === undefined ? 'tlsCert' : 'tlsKey'} is missing: HTTPS needs both tlsCert and tlsKey`,
    ]);
  }
  const pair = { cert: readPem(tlsCert, 'tlsCert'), key: readPem(tlsKey, 'tlsKey') };
  try {
    createSecureContext(pair);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new SettingsError([
      /KEY_VALUES_MISMATCH/.test(code)
        ? `tlsKey ${tlsKey} does not match tlsCert ${tlsCert}; use the key that belongs to this certificate`
        : `tlsCert ${tlsCert} and tlsKey ${tlsKey} must be a PEM certificate and an unencrypted PEM key: ${message.replaceAll(/\s+/g, ' ')}`,
    ]);
  }
  return pair;
};

const readPem = (path: string, setting: string): Buffer => {
  try {
    return readSmallFileSync(path);
  } catch (error) {
    throw new SettingsError([`cannot read ${setting} ${path}: ${reasonOf(error)}`]);
  }
};

/**
 * Number of file descriptors reserved besides those for served connections: 100 for refused connections, and 64 for
 * files.
 */
const reserve = 100 + 64;

/** Minimum number of connections. The server does not start if the limit on open files allows fewer. */
const minConnections = 10;

const advice = 'raise the limit with ulimit -n, or with LimitNOFILE in a systemd unit';

/**
 * Lowers the number of connections to what the limit on open files allows, with a warning, because a server at that
 * limit could neither accept connections nor open files. Throws a SettingsError if too few connections remain.
 */
export const fitConnections = (wanted: number, limit = readOpenFileLimit()) => {
  const possible = limit - reserve;
  if (wanted <= possible) return { maxConnections: wanted };
  if (possible < minConnections) {
    throw new SettingsError([
      `the limit on open files is ${limit}, but serving ${minConnections} connections needs at least ` +
        `${reserve + minConnections}; ${advice}`,
    ]);
  }
  const reason = `because the limit on open files is ${limit}; ${advice}`;
  return { maxConnections: possible, warning: `maxConnections is ${possible} instead of ${wanted}, ${reason}` };
};

/** Reads the soft limit on open files. Node raises it to the hard limit on startup. Infinite if unknown. */
const readOpenFileLimit = (): number => {
  const path = '/proc/self/limits';
  const limits = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
};
