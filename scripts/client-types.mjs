/** The declarations of every named shape and every route of an OpenAPI document, in TypeScript. */
export const toTypes = ({ components }, operations) =>
  [
    ...Object.entries(components.schemas).map(toShape),
    toInterface('Operations', 'What each method takes and returns.', operations.map(toOperation)),
  ].join('\n\n');

/**
 * The routes of the document as the client sees them: `id`, `method`, `profile`, `base` (the default mount), `path`, and
 * `marks` (see src/client/create-client.ts); the stream of events is among them. Throws for a route that the client cannot call.
 */
export const listOperations = ({ paths, components }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const id = operation.operationId;
      const base = toBase(id, path);
      const listParameters = (place) => (operation.parameters ?? []).filter((parameter) => parameter.in === place);
      const [params, query, headers] = ['path', 'query', 'header'].map(listParameters);
      const body = operation.requestBody?.content['application/json']?.schema;
      const { 200: ok, 201: created, 202: accepted } = operation.responses;
      const output = Object.values((ok ?? created ?? accepted).content)[0].schema;
      const entry = toEntry(resolve(output, components), components);
      const marks = [
        ...(operation.security.length > 0 ? ['token'] : []),
        ...(headers.some(({ name }) => name === 'Idempotency-Key') ? ['key'] : []),
        ...(entry ? [query.map(({ name }) => name).find((name) => pagings.includes(name)) ?? 'list'] : []),
      ];
      checkInput(id, params, query, resolve(body, components));
      const call = {
        id,
        method: method.toUpperCase(),
        profile: operation.tags[0],
        base,
        path: path.slice(base.length),
      };
      return { ...call, marks, summary: operation.summary, params, query, headers, body, output, entry };
    }),
  );

/** Parameters that say where a page begins; src/client/lists.ts has one reader for each. */
const pagings = ['after', 'before', 'page'];

/** The default mount, which ends the ids of its operations: `/simple` for `listTasksAtSimple`. */
const toBase = (id, path) => {
  const suffix = /At([A-Z]\w*)$/.exec(id)?.[1];
  if (suffix === undefined) return '';
  const base = `/${path.split('/')[1]}`;
  if (base.slice(1).toLowerCase() !== suffix.toLowerCase()) throw new Error(`${id} is not mounted at ${base}`);
  return base;
};

/** Parameters and the members of the body are one object to the caller. */
const checkInput = (id, params, query, body) => {
  const names = [...params, ...query].map(({ name }) => name);
  const twice = names.filter((name) => Object.hasOwn(body?.properties ?? {}, name));
  if (twice.length > 0) throw new Error(`${id}: ${twice} is both a parameter and a member of the body`);
  if (body && query.length > 0) throw new Error(`${id} has a body and a query`);
  if (body && params.length > 0 && body.type !== 'object')
    throw new Error(`${id}: its body has no place for parameters`);
};

const resolve = (schema, components) =>
  schema?.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)];

/** The schema of the objects in a list, which is the whole response or its member `data`. */
const toEntry = (output, components) => {
  const { items } = output.type === 'array' ? output : (output.properties?.data ?? {});
  return resolve(items, components)?.type === 'object' ? items : undefined;
};

const toShape = ([name, schema]) =>
  schema.type === 'object' && schema.properties && !schema.additionalProperties
    ? toInterface(name, schema.description, toMembers(schema))
    : `${toComment(schema.description)}export type ${name} = ${toType(schema)};`;

const toInterface = (name, description, members) =>
  `${toComment(description)}export interface ${name} {\n${members.map((member) => indent(member)).join('\n')}\n}`;

const toOperation = ({ id, summary, params, query, headers, body, output, entry }) => {
  const names = { 'If-Match': 'ifMatch', 'Idempotency-Key': 'idempotencyKey' };
  const types = [
    `input: ${toInput(params, query, body)};`,
    `output: ${toType(output)};`,
    `headers: ${headers.map(({ name }) => `'${names[name]}'`).join(' | ') || 'never'};`,
    `entry: ${entry ? toType(entry) : 'never'};`,
  ];
  return `${toComment(`${summary}.`)}${id}: {\n${types.map((type) => indent(type)).join('\n')}\n};`;
};

const toInput = (params, query, body) => {
  const members = [...params, ...query].map(
    ({ name, required, description, schema }) =>
      `${toComment(description)}${name}${required ? '' : '?'}: ${toType(schema)}${required ? '' : ' | undefined'};`,
  );
  const own = members.length > 0 ? [`{\n${members.map((member) => indent(member)).join('\n')}\n}`] : [];
  const sent = body ? [Object.keys(body).length === 0 ? 'object' : toType(body)] : [];
  const isOptional = !body && ![...params, ...query].some(({ required }) => required);
  return [...own, ...sent].join(' & ') + (isOptional ? (own.length > 0 ? ' | undefined' : 'undefined') : '');
};

const toMembers = ({ properties, required = [] }) =>
  Object.entries(properties).map(
    ([name, schema]) =>
      `${toComment(schema.description)}${toName(name)}${required.includes(name) ? '' : '?'}: ${toType(schema)};`,
  );

const toName = (name) => (/^[\w$]+$/.test(name) ? name : JSON.stringify(name));

const toType = (schema) => {
  const { $ref, type, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(toType).join(' | ');
  if (type === 'array') return `(${toType(items)})[]`.replace(/^\((\w+)\)/, '$1');
  if (type === 'integer') return 'number';
  if (type !== 'object') return type ?? 'unknown';
  if (additionalProperties) return `Record<string, ${toType(additionalProperties)}>`;
  return `{\n${toMembers({ ...schema, properties: properties ?? {} })
    .map((member) => indent(member))
    .join('\n')}\n}`;
};

const indent = (text) => text.replace(/^(?=.)/gm, '  ');

const toComment = (text) => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');
