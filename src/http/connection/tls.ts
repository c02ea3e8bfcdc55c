import { type SecureContextOptions, Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';

/** A certificate with its chain, and its key, both PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** RFC 8996 forbids TLS 1.0 and 1.1; set explicitly, so no flag of Node can enable them. */
export const toTlsOptions = (certificate: Certificate): SecureContextOptions => ({
  ...certificate,
  minVersion: 'TLSv1.2',
});

/** New connections use the new certificate; open ones keep theirs. */
export const renewCertificate = ({ server }: FastifyInstance, certificate: Certificate): void => {
  if ((server as unknown) instanceof TlsServer) {
    (server as unknown as TlsServer).setSecureContext(toTlsOptions(certificate));
  }
};
