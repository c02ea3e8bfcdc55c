import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { installTools, root } from './install.mjs';

export const clientPath = join(root, 'dist', 'client.js');
/** OpenAPI document of all profiles, for checks. */
const documentPath = join(root, 'dist', 'openapi.json');
const typesPath = join(root, 'dist', 'client.d.ts');

/** Maximum bytes of the client, gzipped. */
const budget = 6500;

/** Builds the client and its types for the routes of the built server; throws if it exceeds its budget. */
export const buildClient = async (serverPath) => {
  const api = await describeApi(serverPath);
  writeFileSync(documentPath, JSON.stringify(api));
  const document = withoutTexts(api);
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
    define: { OPERATIONS: JSON.stringify(operations.map((columns) => columns.join(' ')).join('\n')) },
    logLevel: 'error',
  }).finally(stop);
  const [{ contents }] = outputFiles;
  const size = gzipSync(contents).length;
  process.stderr.write(`Client, gzipped: ${(size / 1000).toFixed(1)} of ${budget / 1000} KB\n`);
  if (size > budget) throw new Error('the client is too large');
  // Generating types resolves the references.
  const topics = toTopics(document);
  const common = readFileSync(join(root, 'src', 'client', 'types.ts'), 'utf8');
  writeFileSync(typesPath, `${topics}\n${await toTypes(document)}\n${common}\n${ending}`);
  writeFileSync(`${clientPath}.new`, contents);
  renameSync(`${clientPath}.new`, clientPath);
};

/**
 * Returns the OpenAPI document of a server with all profiles at their default mounts. The address of a nonexistent
 * database adds the profile that only shared stores have.
 */
const describeApi = async (serverPath) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-build-'));
  const config = join(folder, 'config.json');
  const settings = { port: 0, dataDir: join(folder, 'data'), store: 'postgres://127.0.0.1:1/none', timeZone: 'UTC' };
  const secrets = { adminPassword: 'not a secret', readerPassword: 'nor this', jwtSecret: 'x'.repeat(32) };
  writeFileSync(config, JSON.stringify({ ...settings, ...secrets }), { mode: 0o600 });
  const { loadServer, schema } = await import(pathToFileURL(serverPath).href);
  const { startServer } = await loadServer();
  const { url, close } = await startServer(schema, config);
  try {
    return await (await fetch(`${url}/openapi.json`)).json();
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Routes that only agents and Prometheus call. */
const ofAgents = ['enrolHost', 'reportHost', 'reportHostResult', 'getHostMetrics'];

/** Returns the document without agents' routes and routes that accept only plain text: the client sends JSON. */
const withoutTexts = ({ paths, ...api }) => {
  const isCalled = ([, { operationId, requestBody }]) =>
    !ofAgents.includes(operationId) && (requestBody === undefined || 'application/json' in requestBody.content);
  const toCalled = ([path, methods]) => [path, Object.fromEntries(Object.entries(methods).filter(isCalled))];
  return { ...api, paths: Object.fromEntries(Object.entries(paths).map(toCalled)) };
};

/** Parameters that name the start of a page; src/client/streams.ts has one reader for each. */
const pagings = ['after', 'before', 'page'];

/** Lists the routes as src/client/create-client.ts needs them: id, method, profile, default mount, path and marks. */
const listOperations = ({ paths, components }) => {
  const resolve = (schema) => (schema?.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, tags, security, parameters = [], ...operation }]) => {
      const base = /At[A-Z]\w*$/.test(id) ? `/${path.split('/')[1]}` : '';
      const list = (place) => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
      const { 200: ok, 201: created, 202: accepted } = operation.responses;
      const output = resolve(Object.values((ok ?? created ?? accepted).content)[0].schema);
      const { items } = output.type === 'array' ? output : (output.properties?.data ?? {});
      const marks = [
        ...(security.length > 0 ? ['token'] : []),
        ...(list('header').includes('Idempotency-Key') ? ['key'] : []),
        ...(resolve(items)?.type === 'object' ? [list('query').find((name) => pagings.includes(name)) ?? 'list'] : []),
      ];
      return [id, method.toUpperCase(), tags[0], base, path.slice(base.length), ...marks];
    }),
  );
};

/** Generates the types of all schemas and routes with openapi-typescript, without refusals, which the client throws. */
const toTypes = async ({ paths, components, openapi, info }) => {
  const packages = await installTools('client', 'Installing openapi-typescript (45 MB) ...');
  const generator = join(packages, 'openapi-typescript', 'dist', 'index.mjs');
  const { default: describeTypes, astToString } = await import(pathToFileURL(generator).href);
  const operations = Object.values(paths).flatMap(Object.values);
  const called = operations.filter(({ operationId }) => operationId !== 'streamEvents');
  const members = called.map(({ operationId, summary, parameters, requestBody, responses }) => [
    `/${operationId}`,
    { post: { operationId, summary, parameters, requestBody, responses: pickSuccess(responses) } },
  ]);
  const nodes = await describeTypes(
    { openapi, info, components: { schemas: components.schemas }, paths: Object.fromEntries(members) },
    { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true, defaultNonNullable: false },
  );
  const summaries = new Map(called.map(({ operationId, summary }) => [operationId, summary]));
  const isUsed = ({ name }) => !['paths', 'webhooks', '$defs'].includes(name?.text);
  return astToString(nodes.filter(isUsed)).replace(/^ {4}(\w+): \{$/gm, (line, id) =>
    summaries.has(id) ? `    /** ${summaries.get(id)}. */\n${line}` : line,
  );
};

const pickSuccess = (responses) =>
  Object.fromEntries(
    Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, { description, content }]) => [status, { description, content }]),
  );

/** Returns the type of event data by topic. */
const toTopics = ({ 'x-signalbox-topics': topics }) => {
  const members = Object.entries(topics).map(([name, { $ref }]) => `  ${name}: ${$ref.split('/').at(-1)};`);
  return `/** The data of events by topic. */\nexport type Topics = {\n${members.join('\n')}\n};\n`;
};

/** Exports of src/client, for the routes and topics of this program. */
const ending = `/** Input and output of each method. */
export type Operations = { [K in keyof operations]: ToOperation<operations[K]> };

export type SignalboxClient = Client<Operations, Topics>;

export type ClientError = ClientFailure;
export declare const ClientError: { new (code: ClientFailure['code'], message: string): ClientFailure };

/**
 * Creates a client of the signalbox at an address, including the path at which a proxy serves it; in a page, the address
 * may be relative. Nothing is sent before the first call. Throws a TypeError for an invalid address.
 */
export declare const createClient: (url: string, options?: ClientOptions) => SignalboxClient;
`;
