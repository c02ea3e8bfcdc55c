import { toExample } from './example.js';
import { resolveReferences, toField, toFields, toShape } from './schema.js';

const methods = ['get', 'post', 'put', 'delete', 'patch'];

/**
 * Converts an OpenAPI 3.1 document to groups of routes: one group for each profile on each base path. Base paths are in
 * the order of the document, profiles in the order of its tags.
 */
export const toGroups = (openApi = {}) => {
  const { paths = {}, tags = [] } = resolveReferences(openApi);
  const groups = new Map();
  for (const route of listRoutes(paths)) {
    const key = `${route.base} ${route.profile}`;
    if (!groups.has(key)) groups.set(key, createGroup(route, tags));
    groups.get(key).routes.push(route);
  }
  return sortGroups([...groups.values()], tags);
};

/** True if each word of a filter occurs in the route's `text`; an empty filter matches all routes. */
export const isMatch = (text, filter) =>
  filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));

const listRoutes = (paths) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    methods
      .filter((method) => operations[method])
      .map((method) => toRoute(method.toUpperCase(), path, operations[method])),
  );

const toRoute = (method, path, operation) => {
  const { operationId, summary = '', tags = [], security = [], requestBody, responses = {} } = operation;
  const [profile = 'other'] = tags;
  const access = toAccess(operation);
  const body = readContent(requestBody);
  const answers = Object.entries(responses).map(([status, response]) => toAnswer(status, response));
  return {
    id: operationId ?? `${method}:${path}`,
    method,
    path,
    base: toBase(path),
    profile,
    summary,
    access,
    takesKey: security.some((scheme) => 'key' in scheme),
    // Some open routes offer more to a client with a token; they can refuse a role.
    takesToken: access !== 'open' || '403' in responses,
    isStream: answers.some(({ type }) => type === 'text/event-stream'),
    inPath: toParameters(operation, 'path'),
    inQuery: toParameters(operation, 'query'),
    inBody: toFields(body.schema),
    bodyTypes: body.types,
    example: body.example ?? (body.schema && toExample(body.schema, { onlyRequired: true })),
    answers,
    text: `${method} ${path} ${summary} ${profile} ${access}`.toLowerCase(),
  };
};

/** A base path ends where a profile's own paths begin: at the last `/api/`, or at the last segment. */
const toBase = (path) => {
  const api = path.lastIndexOf('/api/');
  return path.slice(0, api < 0 ? path.lastIndexOf('/') : api) || '/';
};

/** Only routes that require a role can refuse a valid token. */
const toAccess = ({ security = [], responses = {} }) => {
  if (security.length === 0) return 'open';
  return '403' in responses ? 'admin' : 'token';
};

const toParameters = ({ parameters = [] }, place) =>
  parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, required, description = '', example = schema?.examples?.[0] }) => ({
      ...toField(name, schema, required),
      description: description || schema?.description || '',
      choices: schema?.enum,
      example: example ?? schema?.default,
    }));

/** Of a body: its content types, and the schema and the document's own example of the first, which is JSON if possible. */
const readContent = ({ content = {} } = {}) => {
  const isJson = (type) => type === 'application/json';
  const types = Object.keys(content).toSorted((left, right) => isJson(right) - isJson(left));
  const { schema, example, examples = {} } = content[types[0]] ?? {};
  return { types, schema, example: example ?? Object.values(examples)[0]?.value };
};

const toAnswer = (status, response) => {
  const { types, schema, example } = readContent(response);
  return {
    status,
    reason: response.description ?? '',
    type: types[0] ?? '',
    headers: Object.keys(response.headers ?? {}),
    shape: schema ? toShape(schema) : '',
    fields: toFields(schema),
    example: example ?? (schema && toExample(schema)),
  };
};

const createGroup = ({ base, profile }, tags) => ({
  id: `${base}:${profile}`,
  base,
  profile,
  description: tags.find(({ name }) => name === profile)?.description ?? '',
  routes: [],
});

const sortGroups = (groups, tags) => {
  const bases = groups.map(({ base }) => base);
  const names = tags.map(({ name }) => name);
  const rank = ({ profile }) => (names.includes(profile) ? names.indexOf(profile) : names.length);
  return groups.toSorted(
    (left, right) => bases.indexOf(left.base) - bases.indexOf(right.base) || rank(left) - rank(right),
  );
};
