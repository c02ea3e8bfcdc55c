import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { reasonOf } from './file.ts';
import type { Settings } from './schema.ts';
import { SettingsError } from './settings-error.ts';

/** Throws a SettingsError where timeouts and proxies, each fine by itself, cannot be used as they are given. */
export const assertUsable = ({ headersTimeout, requestTimeout, trustProxy }: Settings): void => {
  const problems = trustProxy
    .filter((block) => !isAddressBlock(block))
    .map(
      (block) => `trustProxy takes addresses and CIDR blocks like 10.0.0.0/8, not ${JSON.stringify(block)}`,
    );
  if (headersTimeout > requestTimeout) {
    problems.push(`headersTimeout ${headersTimeout} must not be more than requestTimeout ${requestTimeout}`);
  }
  if (problems.length > 0) throw new SettingsError(problems);
};

/** The certificate and key that the settings name, if any; throws a SettingsError where they are no pair. */
export const readCertificate = ({ tlsCert, tlsKey }: Settings): { cert: Buffer; key: Buffer } | undefined => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new SettingsError([
      `${tlsCert === undefined ? 'tlsKey' : 'tlsCert'} is set alone; HTTPS needs tlsCert and tlsKey`,
    ]);
  }
  const pair = { cert: readFile(tlsCert, 'tlsCert'), key: readFile(tlsKey, 'tlsKey') };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new SettingsError([describeFault(error as NodeJS.ErrnoException, tlsCert, tlsKey)]);
  }
  return pair;
};

/** An address, or a block of less than all of them: who trusts everybody lets clients say who they are. */
const isAddressBlock = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  const bits = family === 6 ? 128 : 32;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
};

const readFile = (path: string, setting: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SettingsError([`cannot read ${setting} ${path}: ${reasonOf(error)}`]);
  }
};

const describeFault = ({ code = '', message }: NodeJS.ErrnoException, cert: string, key: string): string => {
  if (/KEY_VALUES_MISMATCH/.test(code)) {
    return `tlsKey ${key} is not the key of tlsCert ${cert}; give the two files of one certificate`;
  }
  return `tlsCert ${cert} and tlsKey ${key} are no certificate and unencrypted key in PEM: ${message.replaceAll(/\s+/g, ' ')}`;
};
