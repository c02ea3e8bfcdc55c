import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Parses the certificates in a PEM text. Throws if a certificate cannot be parsed. */
export const parseCertificates = (text: string): X509Certificate[] =>
  Array.from(text.matchAll(pem), ([block]) => new X509Certificate(block));

/**
 * Returns the certificates that Node trusts, in PEM. Includes NODE_EXTRA_CA_CERTS and, if they can be listed, the
 * certificates of the system.
 */
export const listTrusted = (): readonly string[] => {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
};

/** Parses the CAs in a setting. Throws an Error that names the setting if they are invalid. */
export const parseAuthorities = (name: string, text: string): X509Certificate[] => {
  try {
    const found = parseCertificates(text);
    if (found.length > 0) return found;
  } catch {
    // Text that cannot be parsed is rejected below, like text without a certificate.
  }
  throw new Error(`${name} has no certificate in PEM`);
};

/** Returns the TLS client option `ca` that trusts the given CAs in addition to the default CAs. Empty without CAs. */
export const toTrust = (authorities: readonly X509Certificate[]): { ca?: string[] } =>
  authorities.length === 0 ? {} : { ca: [...listTrusted(), ...authorities.map(String)] };
