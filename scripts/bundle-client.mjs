import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listOperations, toTypes } from './client-types.mjs';
import { root } from './install.mjs';
import { readUrl } from './started-program.mjs';

const clientPath = join(root, 'dist', 'client.js');
const typesPath = join(root, 'dist', 'client.d.ts');

/** Most bytes that the client may have, gzipped. */
const budget = 5000;

/** True if the client was built from inputs with this hash. */
export const isClientCurrent = (hash) =>
  existsSync(typesPath) && existsSync(clientPath) && readFileSync(clientPath, 'utf8').slice(0, 500).includes(hash);

/** Builds the client and its types for the routes of the built program; throws if it exceeds its budget. */
export const buildClient = async (hash, programPath) => {
  const document = await readOpenApi(programPath);
  const operations = listOperations(document);
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/client/create-client.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    define: { OPERATIONS: JSON.stringify(toTable(operations)) },
    banner: { js: `// built from ${hash}` },
    logLevel: 'error',
  }).finally(stop);
  const [{ contents }] = outputFiles;
  const size = gzipSync(contents).length;
  process.stderr.write(`Client, gzipped: ${(size / 1000).toFixed(1)} of ${budget / 1000} KB\n`);
  if (size > budget) throw new Error('the client is too large');
  const methods = operations.filter(({ id }) => id !== 'streamEvents');
  const common = readFileSync(join(root, 'src', 'client', 'types.ts'), 'utf8');
  const shapes = `${toTypes(document, methods)}\n\n${common}`;
  const types = [shapes, toTopics(shapes), ending].join('\n\n');
  checkNames(types);
  writeFileSync(typesPath, types);
  writeFileSync(`${clientPath}.new`, contents);
  renameSync(`${clientPath}.new`, clientPath);
};

/** A shape of a route must not have the name of one of the client's own types. */
const checkNames = (types) => {
  const names = [...types.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`two types of the client are named ${twice}`);
};

const toTable = (operations) =>
  operations
    .map(({ id, method, profile, base, path, marks }) => [id, method, profile, base, path, ...marks].join(' '))
    .join('\n');

/** The shapes of events: some are those of a route, the others are in src/client/types.ts. */
const topics = {
  host: 'HostUsage',
  processes: 'ProcessUsage',
  top: 'ProcessUsage',
  history: 'History',
  status: 'HealthStatus',
  tasks: 'TaskNotice',
  alerts: 'AlertEntry',
  deliveries: 'DeliveryList',
  executions: 'ExecutionNotice',
};

/** The data of events by topic; a feature that was deleted has no shapes. */
const toTopics = (types) => {
  const known = Object.entries(topics).filter(([, shape]) => types.includes(`export interface ${shape} {`));
  const members = known.map(([topic, shape]) => `  ${topic}: ${shape};`);
  return `/** The data of events by topic. */\nexport interface Topics {\n${members.join('\n')}\n}`;
};

/** What src/client exports, for the routes and topics of this program. */
const ending = `export type SignalboxClient = Client<Operations, Topics>;

export declare const ClientError: { new (code: ClientError['code'], message: string): ClientError };

/**
 * A client of the signalbox at an address, with the path at which a proxy serves it; in a page, also relative to it.
 * Nothing is sent before the first call. Throws a TypeError for an invalid address.
 */
export declare const createClient: (url: string, options?: ClientOptions) => SignalboxClient;
`;

/**
 * The OpenAPI document of the program with all profiles at their default mounts. The address of a database, where none
 * answers, adds the profile that only shared stores have.
 */
const readOpenApi = async (programPath) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-build-'));
  const settings = { port: 0, dataDir: join(folder, 'data'), store: 'postgres://127.0.0.1:1/none', timeZone: 'UTC' };
  const config = join(folder, 'config.json');
  const secrets = ['adminPassword', 'readerPassword', 'jwtSecret'].map((name) => [
    name,
    randomBytes(32).toString('hex'),
  ]);
  writeFileSync(config, JSON.stringify({ ...settings, ...Object.fromEntries(secrets) }), { mode: 0o600 });
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SIGNALBOX_')));
  const program = spawn(process.execPath, [programPath, '--config', config], { cwd: folder, env });
  const ended = new Promise((resolve) => program.on('close', resolve));
  try {
    const response = await fetch(`${await readUrl(program)}/openapi.json`);
    return await response.json();
  } finally {
    program.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
};
