import Type, { type Static, type TObject, type TProperties } from 'typebox';
import { AccessKey, AccessSetting } from '../auth/access.ts';

/** Marks settings that must not be given as flags, because every account can read command lines. */
const secret = { writeOnly: true } as const;

/** Pattern of paths. The operating system accepts all characters except NUL. */
const withoutNul = '^[^\\u0000]*$';

/** Pattern of names that are sent in headers. */
const printable = '^[!-~]+$';

/** Current names of settings, by the former names that 1.0.0 and 1.1.0 used. */
export const formerNames: Readonly<Record<string, string>> = { issuer: 'jwtIssuer' };

/** Names of patterns, used in messages. */
export const patternNames: Readonly<Record<string, string>> = {
  [withoutNul]: 'a non-empty string without NUL characters',
  [printable]: 'printable ASCII characters without spaces',
};

const path = (description: string) => Type.String({ minLength: 1, pattern: withoutNul, description });

/** Creates the schema of a list of names or addresses. The list is empty by default. */
const list = (description: string) => Type.Array(Type.String({ minLength: 1 }), { default: [], description });

const coreSettings = {
  host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address to listen on.' }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8080,
    description: 'Port to listen on; 0 picks a free port.',
  }),
  profiles: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      description: 'Serve only these profiles, all at `/`; overrides mounts.',
    }),
  ),
  mounts: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }), {
      description: 'Base paths, and the profiles to serve on each.',
    }),
  ),
  dataDir: Type.String({
    minLength: 1,
    pattern: withoutNul,
    default: 'data',
    description: 'Folder for data that survives restarts.',
  }),
  store: Type.String({
    minLength: 1,
    default: 'memory',
    examples: ['memory', 'file'],
    description:
      'Storage of tasks and items: `memory` (lost when the server stops), `file` (in `dataDir`), or the URL of a PostgreSQL database shared by instances, `postgres://user@host/database`.',
  }),
  keepSecrets: Type.Boolean({
    default: false,
    description: 'Keep random passwords and a random signing key in `dataDir`, so that they survive a restart.',
  }),
  storeMaxBytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Maximum bytes of memory for tasks and items with `store` `memory` and `file`; requests that need more get 503. By default half of the JavaScript heap.',
    }),
  ),
  instanceName: Type.Optional(
    Type.String({
      pattern: printable,
      description: 'Name of this instance in a shared database; by default host name and port.',
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Time zone of times without an offset, such as `Europe/Berlin`; by default the time zone of the machine.',
    }),
  ),
  seed: Type.Optional(path('JSON file with records to load on startup.')),
  cors: Type.Boolean({ default: false, description: 'Allow requests from web pages of any origin.' }),
  allowedHosts: list('Host names accepted in requests; on loopback, in addition to the local names.'),
  tlsCert: Type.Optional(path('PEM file with the certificate and its chain; turns on HTTPS. Reloaded on SIGHUP.')),
  tlsKey: Type.Optional(path("PEM file with the certificate's private key, unencrypted.")),
  trustProxy: list('Addresses or CIDR blocks of proxies whose X-Forwarded-For header is trusted.'),
  requestTimeout: Type.Integer({
    minimum: 1,
    maximum: 300,
    default: 30,
    description:
      'Seconds within which a request must arrive; otherwise the request gets 408. Clients that stop reading a response for this long are disconnected.',
  }),
  headersTimeout: Type.Integer({
    minimum: 1,
    maximum: 300,
    default: 10,
    description:
      'Seconds within which the headers of a request must arrive, or a TLS handshake must end; at most `requestTimeout`.',
  }),
  maxConnections: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1000,
    description: 'Maximum number of connections; the next 100 connections get 503, and further connections are closed.',
  }),
  maxEventLoopDelay: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 500,
    description: 'Event-loop delay in milliseconds above which new requests get 503; 0 means no limit.',
  }),
  basePath: Type.Optional(
    Type.String({
      pattern: '^(/[A-Za-z0-9._~-]+)+$',
      description:
        'Path at which a proxy serves this server, such as `/desk`. The proxy must remove the path from requests; redirects and the OpenAPI document contain the path.',
    }),
  ),
  publicDir: Type.Optional(path('Folder that /docs serves instead of the built-in pages.')),
  powershellPath: Type.Optional(path('Absolute path of PowerShell, if PowerShell is not in a standard location.')),
  access: AccessSetting,
  jwtIssuer: Type.String({ minLength: 1, default: 'signalbox', description: 'The `iss` claim of tokens.' }),
  jwtSecret: Type.Optional(
    Type.String({
      ...secret,
      description:
        'Key that signs tokens, at least 32 bytes. If not set, a random key is used, and tokens become invalid when the server stops, unless `keepSecrets` is on.',
    }),
  ),
  jwtPreviousSecret: Type.Optional(
    Type.String({ ...secret, description: 'The previous `jwtSecret`, whose tokens stay valid while you rotate keys.' }),
  ),
  keys: Type.Array(AccessKey, {
    default: [],
    description: 'Keys for programs that cannot log in; `signalbox create-key` creates them.',
  }),
  logLevel: Type.Enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    default: 'info',
    description: 'Lowest log level to write; debug adds a line for each request.',
  }),
};

type CoreSettings = Static<TObject<typeof coreSettings>>;

/** Settings of the program, including the settings of each feature. */
export type Settings = CoreSettings & Record<string, unknown>;

/**
 * Combines all settings into one schema, from which flags, variables, keys in the file, validation and documentation
 * are derived.
 */
export const createSettingsSchema = (fragments: readonly TProperties[]): TObject =>
  Type.Object(Object.assign({}, coreSettings, ...fragments), {
    additionalProperties: false,
    title: 'signalbox settings',
  });
