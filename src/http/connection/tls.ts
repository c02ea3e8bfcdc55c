import { type SecureContextOptions, Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';

/** A certificate with its chain, and its key, both PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** RFC 8996 ends TLS 1.0 and 1.1; stated here, no flag of Node can bring them back. */
export const toTlsOptions = (certificate: Certificate): SecureContextOptions => ({
  ...certificate,
  minVersion: 'TLSv1.2',
});

/** New connections get the certificate; those that are open keep theirs. */
export const renewCertificate = ({ server }: FastifyInstance, certificate: Certificate): void => {
  if ((server as unknown) instanceof TlsServer) {
    (server as unknown as TlsServer).setSecureContext(toTlsOptions(certificate));
  }
};
