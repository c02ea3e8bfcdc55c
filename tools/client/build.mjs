import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../../scripts/install.mjs';

/** Maximum size in bytes of the client, gzipped. */
const budget = 6800;

/** Builds the client for the routes of an OpenAPI document. Throws if it exceeds its budget. */
export const buildClient = async (api, outfile) => {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: ['src/client/create-client.ts'],
    bundle: true,
    minify: true,
    outfile,
    format: 'esm',
    target: 'es2022',
    define: { OPERATIONS: JSON.stringify(listOperations(withoutTexts(api)).join('\n')) },
    logLevel: 'error',
  });
  const size = gzipSync(readFileSync(outfile)).length;
  if (size > budget) throw new Error(`the client has ${size} of ${budget} bytes, gzipped`);
};

/** Routes that only agents, Prometheus, or readers and widgets of status pages call. */
const ofOthers = [
  ...['enrolHost', 'reportHost', 'reportHostResult', 'getHostMetrics'],
  ...['readStatusPage', 'readStatusPageLogo', 'readStatusPageFeed', 'readStatusPageCalendar'],
  ...['getKumaStatusPage', 'getKumaHeartbeats', 'getStatuspageSummary', 'readSubscription', 'requestSubscription'],
  ...['readSubscriptionLink', 'useSubscriptionLink'],
];

/**
 * Returns the document without the routes for other programs. Also leaves out routes that accept only plain text,
 * because the client sends JSON.
 */
const withoutTexts = ({ paths, ...api }) => {
  const isCalled = ([, { operationId, requestBody }]) =>
    !ofOthers.includes(operationId) && (requestBody === undefined || 'application/json' in requestBody.content);
  const toCalled = ([path, methods]) => [path, Object.fromEntries(Object.entries(methods).filter(isCalled))];
  return { ...api, paths: Object.fromEntries(Object.entries(paths).map(toCalled)) };
};

/** Parameters for the start of a page. src/client/streams.ts has one reader for each. */
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
      const isList = resolve(items)?.type === 'object';
      const marks = [
        security.length > 0 && 'token',
        list('header').includes('Idempotency-Key') && 'key',
        isList && (list('query').find((name) => pagings.includes(name)) ?? 'list'),
      ];
      return [id, method.toUpperCase(), tags[0], base, path.slice(base.length), ...marks.filter(Boolean)].join(' ');
    }),
  );
};

/** Writes the types of the client: types of events by topic, types of all routes, and src/client/types.ts. */
export const buildTypes = async (api, path) => {
  const topics = Object.entries(api['x-signalbox-topics']).map(
    ([name, { $ref }]) => `  ${name}: ${$ref.split('/').at(-1)};`,
  );
  const parts = [
    `/** The data of events by topic. */\nexport type Topics = {\n${topics.join('\n')}\n};\n`,
    await toTypes(withoutTexts(api)),
    ...['types.ts', 'operations.d.ts'].map((name) => readFileSync(join(root, 'src', 'client', name), 'utf8')),
  ];
  writeFileSync(path, parts.join('\n'));
};

/**
 * Generates the types of all schemas and routes with openapi-typescript. Leaves out refusals, because the client throws
 * them.
 */
const toTypes = async ({ paths, components, openapi, info }) => {
  const { default: describeTypes, astToString } = await import('openapi-typescript');
  const called = Object.values(paths)
    .flatMap(Object.values)
    .filter(({ operationId }) => operationId !== 'streamEvents');
  const toResponses = (responses) =>
    Object.fromEntries(
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, { description, content }]) => [status, { description, content }]),
    );
  const members = called.map(({ operationId, summary, parameters, requestBody, responses }) => [
    `/${operationId}`,
    { post: { operationId, summary, parameters, requestBody, responses: toResponses(responses) } },
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
