import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../support/folder.ts';
import type { Scope } from '../../support/scope.ts';

/** Certificate in PEM, and a function that signs other certificates with its key. */
export interface Signed {
  pem: string;
  key: string;
  /**
   * Signs a certificate for a subject, valid for a number of days. A negative number creates an expired certificate.
   */
  sign(name: string, days: number, options?: { isLeaf?: boolean; keyOf?: Signed }): Signed;
}

/** Creates a CA with openssl. Its certificate is valid for 200 days. */
export const createAuthority = (t: Scope, name: string): Signed => {
  const folder = createFolder(t);
  let count = 0;
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const toFile = (ending: string, content?: string): string => {
    count += 1;
    const file = join(folder, `${count}.${ending}`);
    if (content !== undefined) writeFileSync(file, content);
    return file;
  };
  const createKey = (): string => {
    const file = toFile('key');
    openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', file);
    return readFileSync(file, 'utf8');
  };
  const toSigned = (pem: string, key: string): Signed => ({
    pem,
    key,
    sign: (subject, days, { isLeaf = false, keyOf } = {}) => {
      const ownKey = keyOf?.key ?? createKey();
      const [request, signed] = [toFile('csr'), toFile('pem')];
      openssl('req', '-new', '-key', toFile('key', ownKey), '-subj', `/CN=${subject}`, '-out', request);
      const names = 'basicConstraints=CA:false\nsubjectAltName=DNS:localhost,IP:127.0.0.1';
      const extensions = toFile('ext', isLeaf ? names : 'basicConstraints=critical,CA:true');
      const signer = ['-CA', toFile('pem', pem), '-CAkey', toFile('key', key), '-set_serial', String(1000 + count)];
      openssl('x509', '-req', '-in', request, ...signer, '-days', String(days), '-extfile', extensions, '-out', signed);
      return toSigned(readFileSync(signed, 'utf8'), ownKey);
    },
  });
  const key = createKey();
  const file = toFile('pem');
  const subject = ['-subj', `/CN=${name}`, '-days', '200'];
  openssl('req', '-x509', '-new', '-key', toFile('key', key), ...subject, '-out', file);
  return toSigned(readFileSync(file, 'utf8'), key);
};
