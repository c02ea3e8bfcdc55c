import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a text in PEM. Throws where one of them cannot be read. */
export const parseCertificates = (text: string): X509Certificate[] =>
  Array.from(text.matchAll(pem), ([block]) => new X509Certificate(block));

/** Certificates that Node trusts, in PEM; with those of NODE_EXTRA_CA_CERTS and the system where Node lists them. */
export const listTrusted = (): readonly string[] => {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
};

/** The CAs of a setting, which messages call by `name`. @throws Error */
export const parseAuthorities = (name: string, text: string): X509Certificate[] => {
  try {
    const found = parseCertificates(text);
    if (found.length > 0) return found;
  } catch {
    // As if there were none.
  }
  throw new Error(`${name} has no certificate in PEM`);
};

/** The option `ca` of a TLS client that trusts these CAs in addition; none where there are none. */
export const toTrust = (authorities: readonly X509Certificate[]): { ca?: string[] } =>
  authorities.length === 0 ? {} : { ca: [...listTrusted(), ...authorities.map(String)] };
