import Type, { type Static } from 'typebox';
import { pressures } from '../../host/readings.ts';

const maxTextLength = 1000;
const patterns = (description: string, examples: string[]) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: maxTextLength, examples }), {
      minItems: 1,
      maxItems: 100,
      description,
      examples: [examples],
    }),
  );
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: maxTextLength, description, examples: [example] }));
const count = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description, examples: [example] }));

const pem = (description: string, label: string, options: { writeOnly?: true } = {}) =>
  Type.Optional(
    Type.String({
      ...options,
      minLength: 1,
      maxLength: 100_000,
      description,
      examples: [`-----BEGIN ${label}-----\nMIIB…\n-----END ${label}-----`],
    }),
  );

/** Condition on a value in a JSON body. */
const JsonCondition = Type.Object(
  {
    pointer: Type.String({
      maxLength: maxTextLength,
      description: 'JSON Pointer to the value (RFC 6901).',
      examples: ['/checks/0/status'],
    }),
    is: Type.Enum(['=', '!=', '<', '<=', '>', '>='], {
      type: 'string',
      description: 'Comparison; the value must be a number for all but `=` and `!=`.',
      examples: ['='],
    }),
    value: Type.Union(
      [
        Type.String({ maxLength: maxTextLength, examples: ['up'] }),
        Type.Number({ examples: [3] }),
        Type.Boolean({ examples: [true] }),
        Type.Null(),
      ],
      {
        description: 'Value to compare with.',
        examples: ['up'],
      },
    ),
  },
  { additionalProperties: false },
);
export type JsonCondition = Static<typeof JsonCondition>;

/** Settings that only some types have. */
export const ownWatchSettings = {
  mounts: patterns(
    '`disk`: mount paths; `*` matches any text. By default all fixed disks. Read-only file systems must be named without `*`.',
    ['/srv/*'],
  ),
  metric: Type.Optional(
    Type.Enum(['used', 'free', 'inodes', 'received', 'sent', 'memory', 'cpu', 'silence', 'count'], {
      type: 'string',
      examples: ['used'],
      description:
        'Metric to which the limits apply. `disk`: `used` percent (the default), `free` bytes, or percent of `inodes`. `network`: bytes per second `received` (the default) or `sent`. `process`: `memory` in MiB or `cpu` in percent of one CPU. `alert`: minutes of `silence` (the default), or `count` of the alerts, which must exceed the limit.',
    }),
  ),
  except: patterns('`disk`, `temperature`, `service`: mounts, sensors or units to exclude; `*` matches any text.', [
    '/snap/*',
  ]),
  resource: Type.Optional(
    Type.Enum(pressures, {
      type: 'string',
      description: '`pressure`: resource for which tasks wait; memory by default.',
      examples: ['io'],
    }),
  ),
  sensor: text('`temperature`: chip and label; `*` matches any text. By default all sensors.', 'coretemp *'),
  process: text('`process`: name of the program; `*` matches any text.', 'postgres'),
  user: text('`process`: only processes of this user. `postgres`, `mysql`, `redis`: user to log in as.', 'www-data'),
  min: count('`process`: minimum number of processes; 1 by default.', 1),
  max: count('`process`: maximum number of processes.', 10),
  units: patterns('`service`: systemd units; `*` matches any text. With `failed`, by default all units.', [
    'nginx.service',
  ]),
  failed: Type.Optional(
    Type.Boolean({ description: '`service`: report only failed units, not inactive units.', examples: [true] }),
  ),
  path: text('`file`, `certificate`: path; `*` matches any text. Only in the config file.', '/srv/backup/*.tar'),
  maxAgeHours: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100_000,
      description: '`file`: maximum age of the newest file in hours.',
      examples: [26],
    }),
  ),
  minBytes: Type.Optional(
    Type.Integer({ minimum: 0, description: '`file`: minimum size of the newest file.', examples: [1_000_000] }),
  ),
  url: text('`http`: URL to request.', 'https://shop.example/health'),
  status: Type.Optional(
    Type.String({
      maxLength: 100,
      description: '`http`: expected status codes; 200-299 by default.',
      examples: ['200-299,401'],
    }),
  ),
  method: Type.Optional(
    Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'], {
      type: 'string',
      description: '`http`: method of the request; GET by default.',
      examples: ['POST'],
    }),
  ),
  headers: Type.Optional(
    Type.Record(
      Type.String({ maxLength: 100 }),
      Type.String({ maxLength: maxTextLength, examples: ['application/json'] }),
      {
        maxProperties: 20,
        description: '`http`: headers of the request. Anyone with access to watches can read the headers.',
        examples: [{ 'Content-Type': 'application/json' }],
      },
    ),
  ),
  body: Type.Optional(
    Type.String({ maxLength: 10_000, description: '`http`: body of the request.', examples: ['{"ping":true}'] }),
  ),
  redirects: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10, description: '`http`: redirects to follow; 3 by default.', examples: [0] }),
  ),
  contains: text('`http`: text that the first MiB of the body must contain.', 'ok'),
  lacks: text('`http`: text that the first MiB of the body must not contain.', 'maintenance'),
  json: Type.Optional(
    Type.Array(JsonCondition, {
      minItems: 1,
      maxItems: 20,
      description: '`http`: conditions for values of a JSON body.',
    }),
  ),
  certificateDays: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 10_000,
      description: '`http`: minimum days until the certificate, or a certificate in its chain, expires.',
      examples: [14],
    }),
  ),
  ca: pem('`http`, `certificate`, `grpc`, `postgres`, `mysql`, `redis`: additional trusted CAs in PEM.', 'CERTIFICATE'),
  caFile: text('File with `ca`; only in the config file.', '/etc/ssl/own-ca.pem'),
  certificate: pem(
    '`http`, `grpc`, `postgres`, `mysql`, `redis`: client certificate in PEM, with `key`.',
    'CERTIFICATE',
  ),
  certificateFile: text('File with `certificate`; only in the config file.', '/etc/ssl/client.pem'),
  key: pem('Private key of `certificate` in PEM.', 'PRIVATE KEY', { writeOnly: true }),
  password: Type.Optional(
    Type.String({
      writeOnly: true,
      maxLength: maxTextLength,
      description:
        '`postgres`, `mysql`, `redis`: password. If a change omits the password, the stored password is kept; an empty string means no password.',
      examples: ['correct horse'],
    }),
  ),
  command: Type.Optional(
    Type.Array(Type.String({ maxLength: maxTextLength, examples: ['/usr/lib/nagios/plugins/check_load'] }), {
      minItems: 1,
      maxItems: 100,
      description: '`plugin`: absolute path of a Nagios or Icinga plugin and its arguments; run without a shell.',
      examples: [['/usr/lib/nagios/plugins/check_load', '-w', '4', '-c', '8']],
    }),
  ),
  domain: text('`domain`: registered name.', 'shop.example'),
  container: text('`container`: name or id of the container.', 'shop-web'),
  socket: text(
    '`container`: socket of Docker or Podman; by default their standard sockets. Only in the config file.',
    '/run/user/1000/podman/podman.sock',
  ),
  service: text('`grpc`: name of the service; the whole server by default.', 'shop.v1.Orders'),
  database: text('`postgres`, `mysql`: database to log in to.', 'shop'),
  tls: Type.Optional(
    Type.Boolean({
      description: '`grpc`, `postgres`, `mysql`, `redis`: connect with TLS; false by default.',
      examples: [true],
    }),
  ),
  passwordFile: text('File with `password`; only in the config file.', '/etc/signalbox/database.password'),
  keyFile: text('File with `key`; only in the config file.', '/etc/ssl/private/client.key'),
  host: text(
    '`tcp`, `ping`, `certificate`, `grpc`, `postgres`, `mysql`, `redis`: name or address of the server. `dns`: name to look up.',
    'db.example',
  ),
  record: Type.Optional(
    Type.Enum(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'], {
      type: 'string',
      description: '`dns`: type of the record; A by default.',
      examples: ['MX'],
    }),
  ),
  server: text(
    '`dns`: address of the name server, with its port if not 53; the name servers of the system by default. `domain`: URL of the RDAP server; by default the server of the registry, from the list of IANA.',
    '192.0.2.53',
  ),
  expected: text('`dns`: value that at least one record must have, as in a zone file.', '10 mail.example'),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: '`tcp`, `certificate`, `grpc`, `postgres`, `mysql`, `redis`: port of the server.',
      examples: [5432],
    }),
  ),
  source: text('`alert`: source of the alerts; `*` matches any text.', 'backup*'),
  minutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_080,
      description: '`alert`: period in minutes in which alerts are counted; 60 by default.',
      examples: [60],
    }),
  ),
};

/** Settings that name files. Only the config file may contain them, because runtime watches must not open files. */
export const fileSettings = ['path', 'caFile', 'certificateFile', 'keyFile', 'passwordFile', 'socket'] as const;

/** Settings that responses never contain. */
export const watchSecrets = ['password', 'key'] as const;
