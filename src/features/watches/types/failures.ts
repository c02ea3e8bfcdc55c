import { UncheckedAddress } from '../../../kit/reach.ts';
import { connectionFailures } from '../../../lib/network-failures.ts';

/** Reasons by error code. The names of OpenSSL's codes differ between versions of Node. */
const reasons: Record<string, string> = {
  ...connectionFailures,
  EHOSTUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not respond',
  CERT_HAS_EXPIRED: 'the certificate, or a certificate in its chain, has expired',
  CERT_NOT_YET_VALID: 'the certificate, or a certificate in its chain, is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  CERT_REJECTED: 'the certificate is not trusted for servers',
  CERT_UNTRUSTED: 'the certificate is not trusted for servers',
  CERT_SIGNATURE_FAILURE: 'the signature of the certificate is wrong',
  CERT_CHAIN_TOO_LONG: 'the chain of certificates is too long',
  PATH_LENGTH_EXCEEDED: 'the chain of certificates is too long',
  INVALID_CA: 'the certificate was signed by a certificate that is not a CA',
  INVALID_PURPOSE: 'the certificate is not for servers',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate was signed by a CA that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the server does not send the intermediate certificate, or the CA is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate was signed by a CA that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate was signed by a CA that is not trusted here',
  HOSTNAME_MISMATCH: 'the certificate is for another name',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'the TLS handshake took too long',
};

/** Reasons by pattern of the code or message. The first matching pattern counts. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/^HPE_/, 'the response is not HTTP'],
  [/^ERR_HTTP2_/, 'the response is not valid HTTP/2'],
  [/wrong.version.number|packet.length.too.long|http.request|record.layer.failure/i, 'the response is not TLS'],
  [/unrecognized.name/i, 'the server has no certificate for this name'],
  [/certificate.required|handshake.failure.*certificate/i, 'the server requires a client certificate'],
  [/unsupported.protocol|protocol.version/i, 'the server supports no secure version of TLS'],
  [/handshake.failure|no.shared.cipher|no.ciphers/i, 'the server supports no cipher that signalbox supports'],
  [/(?:dh|ee|ca).key.too.small|md.too.weak/i, 'the key or the signature of the certificate is too weak'],
  [/unsafe.legacy.renegotiation/i, 'the server supports no secure version of TLS'],
  [/unexpected.eof/i, 'the connection was closed during the TLS handshake'],
  [/^ERR_SSL_|^EPROTO$|SSL routines/, 'the TLS handshake failed'],
];

type SocketError = NodeJS.ErrnoException & { hostname?: string; reason?: string; errors?: NodeJS.ErrnoException[] };

/** Converts a connection error to an Error whose message is the reason in words. */
export const toNetworkFailure = (error: Error, signal: AbortSignal): Error => {
  if (error instanceof UncheckedAddress) return error;
  if (signal.aborted) return new Error('no response was received in time');
  const { code = '', hostname, errors } = error as SocketError;
  const codes = errors?.map((each) => each.code) ?? [code];
  if (codes.every((each) => each === 'ENETUNREACH'))
    return new UncheckedAddress('this machine has no route to the network of the host');
  if (code === 'ENOTFOUND') return new UncheckedAddress(`the host name ${hostname} is unknown`);
  if (code === 'EAI_AGAIN')
    return new UncheckedAddress(`the name server does not respond to the lookup of ${hostname}`);
  return new Error(findWords(error) ?? (error.message || errors?.[0]?.message || code || 'the connection failed'));
};

const findWords = (error: SocketError): string | undefined => {
  const { code = '', message, reason = '' } = error;
  const known = reasons[code] ?? reasons[reason];
  if (known !== undefined) return known;
  // OpenSSL's message ends with its reason: `…:SSL routines:ssl3_get_record:wrong version number:…`.
  const [, words] = patterns.find(([form]) => [code, reason, message].some((text) => form.test(text))) ?? [];
  return words;
};

/** Returns the reason why a target does not respond. Rethrows an error that does not concern the target. */
export const toFault = (error: Error): string => {
  if (error instanceof UncheckedAddress) throw error;
  return error.message;
};
