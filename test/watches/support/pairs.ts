import { readFileSync } from 'node:fs';
import { writeCertificate } from '../../support/certificate.ts';
import { createFolder } from '../../support/folder.ts';
import type { Scope } from '../../support/scope.ts';

/** Creates a key and a certificate that is valid for a number of seconds. */
export const createPair = (t: Scope, seconds: number) => {
  const time = new Date(Date.now() + seconds * 1000);
  const end = `${time
    .toISOString()
    .replaceAll(/[-:T]|\..*/g, '')
    .slice(2)}Z`;
  const { cert, key } = writeCertificate(createFolder(t), 'localhost', end);
  return { cert: readFileSync(cert), key: readFileSync(key) };
};
