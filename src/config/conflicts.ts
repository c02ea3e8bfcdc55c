import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { findKeyProblems } from '../auth/access.ts';
import type { Settings } from './schema.ts';
import { findTimeZone } from './time-zone.ts';

/** Minimum length of a key for HS256 in bytes (RFC 7518, 3.2). */
export const minimumSecretBytes = 32;

/** Conflicts between settings that are each valid, as clauses that contain no secrets. */
export const findConflicts = (settings: Settings): string[] => [
  ...findNetworkProblems(settings),
  ...findSecretProblems(settings),
  ...findPathProblems(settings),
  ...findTimeZoneProblems(settings),
  ...findMemoryProblems(settings),
  ...findKeyProblems(settings.keys),
];

const findNetworkProblems = ({ headersTimeout, requestTimeout, trustProxy }: Settings): string[] => {
  const problems = trustProxy
    .filter((block) => !isAddressBlock(block))
    .map((block) => `trustProxy takes addresses and CIDR blocks such as 10.0.0.0/8, not ${JSON.stringify(block)}`);
  return headersTimeout > requestTimeout
    ? [...problems, `headersTimeout ${headersTimeout} must not be more than requestTimeout ${requestTimeout}`]
    : problems;
};

/** An address or a CIDR block. `/0` is refused: trusting every address would let clients forge their own. */
const isAddressBlock = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  const bits = family === 6 ? 128 : 32;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
};

const findSecretProblems = ({ jwtSecret, jwtPreviousSecret }: Settings): string[] => {
  const problems = Object.entries({ jwtSecret, jwtPreviousSecret }).flatMap(([name, secret]) => {
    const bytes = secret === undefined ? minimumSecretBytes : Buffer.byteLength(secret);
    return bytes < minimumSecretBytes
      ? [`${name} must be at least ${minimumSecretBytes} bytes long, not ${bytes}`]
      : [];
  });
  if (jwtPreviousSecret !== undefined && jwtSecret === undefined) {
    problems.push('jwtPreviousSecret has no effect without jwtSecret: set both');
  }
  if (jwtPreviousSecret !== undefined && jwtPreviousSecret === jwtSecret) {
    problems.push('jwtPreviousSecret must differ from jwtSecret');
  }
  return problems;
};

const findPathProblems = ({ powershellPath }: Settings): string[] =>
  powershellPath === undefined || isAbsolute(powershellPath)
    ? []
    : [`powershellPath must be an absolute path, not ${JSON.stringify(powershellPath)}`];

const findTimeZoneProblems = ({ timeZone }: Settings): string[] =>
  timeZone === undefined || findTimeZone(timeZone) !== undefined
    ? []
    : [`timeZone must be a name such as Europe/Berlin or UTC, not ${JSON.stringify(timeZone)}`];

const mebibyte = 2 ** 20;

const findMemoryProblems = ({ storeMaxBytes = 0 }: Settings): string[] => {
  const limit = getHeapStatistics().heap_size_limit;
  return storeMaxBytes > limit
    ? [
        `storeMaxBytes ${storeMaxBytes} is more than the ${limit} bytes of the JavaScript heap; ` +
          `lower it, or start with NODE_OPTIONS=--max-old-space-size=${Math.ceil((2 * storeMaxBytes) / mebibyte)}`,
      ]
    : [];
};
