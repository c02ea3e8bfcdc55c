import { StoreUnavailable, ValueRefusal } from '../../lib/expected-errors.ts';
import { forUntrusted } from '../../lib/network-failures.ts';

/** Returns the code of a failure: the five characters of SQLSTATE, or a code of the system such as EPIPE. */
const failureCodeOf = (error: unknown): string => String((error as { code?: unknown })?.code ?? '');

/**
 * True if a commit was certainly refused: data, constraints, serialization, rights, resources. The severity is no help: it
 * depends
 * on the language of the server, and an error that ends the connection may come after the commit.
 */
export const isRollback = (error: unknown): boolean => /^(22|23|40|42|53[^3]|54|55)/.test(failureCodeOf(error));

/** True if values of a change do not fit a type, a constraint or a limit; NOT NULL (23502) is the fence of writers. */
export const isRefusedValue = (error: unknown): boolean => /^(22|23(?!502)|54)/.test(failureCodeOf(error));

/** Pattern of an SQLSTATE, which has a digit, unlike codes of the system. */
const sqlState = /^(?=.*\d)[\dA-Z]{5}$/;

/** Problem that lasts until an operator changes something; the message is a clause. */
export class LastingProblem extends Error {}

/** True if a table or the schema is missing because the database was replaced; the next connection creates it. */
export const isMissing = (error: unknown): boolean => /^(42P01|3F000)$/.test(failureCodeOf(error));

/**
 * Failures that end by themselves: lost connections (no code of the server, or class 08), a server that shuts down or
 * starts (57P0x), that takes no changes (25006), has no free connection (53300), locks (40, 55P03), statements that
 * took too long (57014), missing tables, and names of statements, which are not used any more then (26000, 42P05).
 */
export const isPassing = (error: unknown): boolean => {
  const code = failureCodeOf(error);
  if (error instanceof LastingProblem) return false;
  return (
    !sqlState.test(code) || isMissing(error) || /^(08|40|57P0|25006|26000|42P05|53300|55P03|57014|25P0)/.test(code)
  );
};

/** Advice for a user who cannot create tables. */
export const missingRights =
  'the user lacks rights in the database: make it the owner, or grant CREATE on the database';

/** Advice for a user who cannot upgrade tables. */
export const foreignTables =
  'the user does not own its tables, which this version upgrades: connect once as their owner, or make the user the owner';

/** True if the user lacks rights. */
export const isForbidden = (error: unknown): boolean => failureCodeOf(error) === '42501';

/** Advice for failures that a retry does not end, by SQLSTATE: credentials, database, rights, TLS. */
const lasting: Record<string, string> = {
  '28P01': 'the password is wrong: correct it in the address',
  '28000': 'this user may not connect: allow it in pg_hba.conf, or use another user',
  '3D000': 'there is no such database: create it, or correct the address',
  '42501': missingRights,
  ...forUntrusted('the certificate is not trusted: name its authority with sslrootcert'),
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name: use a name that it has in the address',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired: renew it',
};

/** Advice by messages of the driver and of PgBouncer that say more than their code. */
const lastingMessages: [message: RegExp, problem: string][] = [
  [
    /does not support SSL/,
    'the server offers no TLS: turn it on there, or use sslmode=disable in a network that you trust',
  ],
  [/^password authentication failed$/, 'the password is wrong: correct it in the address'],
  [/^no such database/, 'there is no such database: create it, or correct the address'],
];

/** Returns the lasting problem behind a failure to connect; undefined for any other failure. */
export const findLastingProblem = (error: unknown): LastingProblem | undefined => {
  if (error instanceof LastingProblem) return error;
  const [, advice] = lastingMessages.find(([message]) => message.test((error as Error).message)) ?? [];
  const problem = advice ?? lasting[failureCodeOf(error)];
  return problem === undefined ? undefined : new LastingProblem(problem, { cause: error });
};

const checkPlace = 'check host and port in the address, and that the server runs';

/** Advice for failed connections, by codes and messages of the system and the driver. */
const unreachable: [cause: RegExp, problem: string][] = [
  [/^ENOTFOUND$/, 'the host name is unknown (CAUSE); check it in the address'],
  [/^EAI_AGAIN$/, 'the host name cannot be looked up (CAUSE); check it in the address, and the name server'],
  [/^ECONNREFUSED$/, `nothing listens there (CAUSE); ${checkPlace}`],
  [/^ENOENT$/, `there is no such socket (CAUSE); ${checkPlace}`],
  [/^(ECONNRESET|EPIPE|Connection terminated.*)$/, `the connection was ended (CAUSE); ${checkPlace}`],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|.*\btimeout\b.*)$/, `no answer came (CAUSE); ${checkPlace}, and firewalls`],
];

/** Returns what to check if the server cannot be reached, as a clause without secrets; undefined for any other failure. */
export const explainUnreachable = (error: unknown): string | undefined => {
  const cause = failureCodeOf(error) || (error as Error).message;
  const [, problem] = unreachable.find(([pattern]) => pattern.test(cause)) ?? [];
  return problem?.replace('CAUSE', cause);
};

/** Creates the refusal of a change or query with a value that the database does not take. */
export const toValueRefusal = (error: unknown): ValueRefusal =>
  new ValueRefusal(`The database does not take a value of this request: ${(error as Error).message}`, { cause: error });

/** Creates the 503 for a failure; `outcome` says what is known about the change. */
export const toDatabaseUnavailable = (error: unknown, outcome = ''): StoreUnavailable =>
  error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable(`The database cannot be used at the moment${outcome}; try again in a second`, {
        cause: error,
      });
