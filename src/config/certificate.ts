import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { reasonOf } from './file.ts';
import type { Settings } from './schema.ts';
import { SettingsError } from './settings-error.ts';

/** Reads the certificate and key that the settings name, if any; throws a SettingsError if they are not a pair. */
export const readCertificate = ({ tlsCert, tlsKey }: Settings): { cert: Buffer; key: Buffer } | undefined => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new SettingsError([
      `${tlsCert === undefined ? 'tlsKey' : 'tlsCert'} is set alone; HTTPS needs both tlsCert and tlsKey`,
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

const readFile = (path: string, setting: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SettingsError([`cannot read ${setting} ${path}: ${reasonOf(error)}`]);
  }
};

const describeFault = ({ code = '', message }: NodeJS.ErrnoException, cert: string, key: string): string => {
  if (/KEY_VALUES_MISMATCH/.test(code)) {
    return `tlsKey ${key} does not match tlsCert ${cert}; use the key that belongs to this certificate`;
  }
  return `tlsCert ${cert} and tlsKey ${key} must be a PEM certificate and an unencrypted PEM key: ${message.replaceAll(/\s+/g, ' ')}`;
};
