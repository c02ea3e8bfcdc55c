import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** PEM files of a self-signed certificate for localhost and an IPv4 address. */
export interface CertificateFiles {
  cert: string;
  key: string;
  /** Certificate in PEM, for clients to trust. */
  pem: string;
}

/**
 * Writes `NAME.crt` and `NAME.key` into the folder. `name` is the common name, and `end` is the expiry as in ASN.1. If
 * `issuer` is another name, the certificate seems to come from a CA that does not exist.
 */
export const writeCertificate = (
  folder: string,
  name: string,
  end = usualEnd,
  issuer = name,
  address = '127.0.0.1',
): CertificateFiles => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = createCertificate({ name, issuer, end, address }, publicKey, privateKey);
  const pem = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  writeFileSync(files.cert, pem);
  writeFileSync(files.key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { ...files, pem };
};

/** Encodes a value according to ITU-T X.690: tag, length, content. */
const encode = (tag: number, ...contents: (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part as string)));
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};

const sequence = (...contents: Buffer[]): Buffer => encode(0x30, ...contents);
const integer = (value: number): Buffer => encode(2, Buffer.from([value]));
const bits = (content: Buffer): Buffer => encode(3, Buffer.from([0]), content);

/** Encoded object identifiers: ecdsa-with-SHA256, commonName, subjectAltName. */
const algorithm = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
const commonName = Buffer.from('0603550403', 'hex');
const subjectAltName = Buffer.from('0603551d11', 'hex');

const usualEnd = '491231235959Z';

/** Creates a version 3 certificate (RFC 5280, 4.1). */
const createCertificate = (
  { name, issuer, end, address }: { name: string; issuer: string; end: string; address: string },
  publicKey: KeyObject,
  privateKey: KeyObject,
): Buffer => {
  const toName = (common: string) => sequence(encode(0x31, sequence(commonName, encode(0x0c, common))));
  const names = sequence(encode(0x82, 'localhost'), encode(0x87, Buffer.from(address.split('.').map(Number))));
  const body = sequence(
    encode(0xa0, integer(2)),
    integer(1),
    algorithm,
    toName(issuer),
    // Years from 2050 on have four digits and a tag of their own.
    sequence(encode(0x17, '250101000000Z'), encode(end.length > 13 ? 0x18 : 0x17, end)),
    toName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    encode(0xa3, sequence(sequence(subjectAltName, encode(4, names)))),
  );
  return sequence(body, algorithm, bits(sign('sha256', body, privateKey)));
};
