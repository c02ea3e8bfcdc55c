import { StoreUnavailable, ValueRefusal } from '../../lib/expected-errors.ts';
import { forUntrusted } from '../../lib/network-failures.ts';

/** Returns the code of a failure: a five-character SQLSTATE, or a system code such as EPIPE. */
const failureCodeOf = (error: unknown): string => String((error as { code?: unknown })?.code ?? '');

/**
 * True for an error that rules out a commit: an error about data, constraints, serialization, rights or resources. The
 * severity does not help, because it depends on the language of the server. An error that ends the connection may come
 * after the commit.
 */
export const isRollback = (error: unknown): boolean => /^(22|23|40|42|53[^3]|54|55)/.test(failureCodeOf(error));

/**
 * True if the values of a change violate a type, a constraint or a limit. Excludes NOT NULL (23502), because it serves
 * as the fence of writers.
 */
export const isRefusedValue = (error: unknown): boolean => /^(22|23(?!502)|54)/.test(failureCodeOf(error));

/** Pattern of an SQLSTATE. Unlike a system code, it contains a digit. */
const sqlState = /^(?=.*\d)[\dA-Z]{5}$/;

/** Problem that lasts until an operator changes something. The message is a clause. */
export class PermanentProblem extends Error {}

/**
 * True if a table or the schema is missing because the database was replaced. The next connection creates the tables.
 */
export const isMissing = (error: unknown): boolean => /^(42P01|3F000)$/.test(failureCodeOf(error));

/**
 * True for temporary failures: lost connections (no server code, or class 08), a server that is shutting down or
 * starting (57P0x), is read-only (25006) or has no free connection (53300), locks (40, 55P03), statement timeouts
 * (57014), missing tables, and unknown names of prepared statements (26000, 42P05). Such names are not used again.
 */
export const isPassing = (error: unknown): boolean => {
  const code = failureCodeOf(error);
  if (error instanceof PermanentProblem) return false;
  return (
    !sqlState.test(code) || isMissing(error) || /^(08|40|57P0|25006|26000|42P05|53300|55P03|57014|25P0)/.test(code)
  );
};

/** Advice for a user without the right to create tables. */
export const missingRights =
  'the user has too few rights in the database: make the user the owner of the database, or grant CREATE on the database';

/** Advice for a user without the right to upgrade tables. */
export const foreignTables =
  'this version must upgrade the tables, but the user is not the owner of the tables: connect once as the owner, or make the user the owner';

/** True if the user lacks rights. */
export const isForbidden = (error: unknown): boolean => failureCodeOf(error) === '42501';

/** Advice by SQLSTATE for failures that a retry does not fix: credentials, database, rights, TLS. */
const permanent: Record<string, string> = {
  '28P01': 'the password is wrong: correct the password in the address',
  '28000': 'this user is not allowed to connect: allow the user in pg_hba.conf, or use another user',
  '3D000': 'the database does not exist: create the database, or correct the address',
  '42501': missingRights,
  ...forUntrusted('the certificate is not trusted: set sslrootcert to a file with its certificate authority'),
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate is for another host name: in the address, use the host name of the certificate',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired: renew the certificate',
};

/** Advice by message, for messages from the driver and PgBouncer that are more specific than their codes. */
const permanentMessages: [message: RegExp, problem: string][] = [
  [
    /does not support SSL/,
    'the server offers no TLS: turn on TLS on the server, or use sslmode=disable in a network that you trust',
  ],
  [/^password authentication failed$/, 'the password is wrong: correct the password in the address'],
  [/^no such database/, 'the database does not exist: create the database, or correct the address'],
];

/** Returns the permanent problem behind a connection failure. Undefined for any other failure. */
export const findPermanentProblem = (error: unknown): PermanentProblem | undefined => {
  if (error instanceof PermanentProblem) return error;
  const [, advice] = permanentMessages.find(([message]) => message.test((error as Error).message)) ?? [];
  const problem = advice ?? permanent[failureCodeOf(error)];
  return problem === undefined ? undefined : new PermanentProblem(problem, { cause: error });
};

const checkPlace = 'check the host and port in the address, and that the server is running';

/** Advice for failed connections, by code or message of the operating system or the driver. */
const unreachable: [cause: RegExp, problem: string][] = [
  [/^ENOTFOUND$/, 'the host name is unknown (CAUSE); check the host name in the address'],
  [/^EAI_AGAIN$/, 'the host name cannot be resolved (CAUSE); check the host name in the address, and the DNS server'],
  [/^ECONNREFUSED$/, `the connection was refused (CAUSE); ${checkPlace}`],
  [/^ENOENT$/, `the socket does not exist (CAUSE); ${checkPlace}`],
  [/^(ECONNRESET|EPIPE|Connection terminated.*)$/, `the connection was closed (CAUSE); ${checkPlace}`],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|.*\btimeout\b.*)$/, `no response (CAUSE); ${checkPlace}, and check firewalls`],
];

/**
 * Returns advice on checking why the server cannot be reached, as a clause without secrets. Undefined for other
 * failures.
 */
export const explainUnreachable = (error: unknown): string | undefined => {
  const cause = failureCodeOf(error) || (error as Error).message;
  const [, problem] = unreachable.find(([pattern]) => pattern.test(cause)) ?? [];
  return problem?.replace('CAUSE', cause);
};

/** Creates the refusal of a change or query with a value that the database rejects. */
export const toValueRefusal = (error: unknown): ValueRefusal =>
  new ValueRefusal(`The database rejected a value in this request: ${(error as Error).message}`, { cause: error });

/** Creates the 503 for a failure. `outcome` says what is known about the change. */
export const toDatabaseUnavailable = (error: unknown, outcome = ''): StoreUnavailable =>
  error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable(`The database cannot be used at the moment${outcome}; try again in a second`, {
        cause: error,
      });
