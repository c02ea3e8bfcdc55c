import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { parseAuthorities, toTrust } from '../../../kit/authorities.ts';
import { readSmallFile } from '../../../lib/small-file.ts';
import type { WatchSettings } from '../schema.ts';

/** Client certificate and its key, in PEM. */
interface ClientIdentity {
  cert: string;
  key: string;
}

/** Additional trusted CAs and the client certificate. */
export interface Trust {
  authorities: readonly X509Certificate[];
  identity?: ClientIdentity | undefined;
}

/** Settings of types that use TLS. */
export const trustSettings = ['ca', 'caFile', 'certificate', 'certificateFile', 'key', 'keyFile'] as const;

type Given = Pick<WatchSettings, (typeof trustSettings)[number]>;

/** Reads the CAs and client certificate of a watch. Rejects with an Error whose message is the reason. */
export const readTrust = async (watch: Given): Promise<Trust> => {
  const { ca, caFile, certificate, certificateFile, key, keyFile } = watch;
  const [authorities, cert, privateKey] = [
    await readText(ca, caFile),
    await readText(certificate, certificateFile),
    await readText(key, keyFile),
  ];
  return {
    authorities: authorities === undefined ? [] : parseAuthorities(caFile ?? 'ca', authorities),
    identity: cert === undefined || privateKey === undefined ? undefined : { cert, key: privateKey },
  };
};

const readText = (text: string | undefined, path: string | undefined): Promise<string> | string | undefined => {
  if (path === undefined) return text;
  return readSmallFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read (${error.code ?? error.message})`);
  });
};

/** Returns the options of a TLS client. */
export const toTlsOptions = ({ authorities, identity }: Trust) => ({ ...toTrust(authorities), ...identity });

/** Returns the problem with the CAs and client certificate of a watch, as a clause. */
export const findTrustProblem = (watch: Given): string | undefined => {
  for (const name of ['ca', 'certificate', 'key'] as const)
    if (watch[name] !== undefined && watch[`${name}File`] !== undefined)
      return `set either ${name} or ${name}File, not both`;
  const { ca, certificate, certificateFile, key, keyFile } = watch;
  if ((certificate ?? certificateFile) !== undefined && (key ?? keyFile) === undefined)
    return 'certificate needs key: set both';
  if ((key ?? keyFile) !== undefined && (certificate ?? certificateFile) === undefined)
    return 'key needs certificate: set both';
  try {
    if (ca !== undefined) parseAuthorities('ca', ca);
    if (certificate !== undefined && key !== undefined) assertPair(certificate, key);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

const assertPair = (certificate: string, key: string): void => {
  const [own] = parseAuthorities('certificate', certificate);
  if (!own?.checkPrivateKey(parseKey(key))) throw new Error('key does not match certificate');
};

const parseKey = (key: string) => {
  try {
    return createPrivateKey(key);
  } catch {
    throw new Error('key must be a private key in PEM without a passphrase');
  }
};
