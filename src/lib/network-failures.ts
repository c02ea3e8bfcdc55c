/** Reasons for connection failures as clauses, by the error code of the system. */
export const connectionFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the name server does not respond',
};

const untrustedCodes = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Maps each error code for certificates that no known CA has signed to a clause. */
export const forUntrusted = (clause: string): Readonly<Record<string, string>> =>
  Object.fromEntries(untrustedCodes.map((code) => [code, clause]));
