import { resolveReferences, toExample, toField, toFields, toShape } from './schema.js';

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

/** The request as a curl command. `server` is the base URL without a trailing slash. */
export const toCommand = ({ method, path, access, example }, server) =>
  [
    'curl',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(access === 'open' ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(example ? [`-d ${quote(JSON.stringify(example))}`] : []),
    quote(`${server}${path.replaceAll(/\{[^}]*\}/g, '1')}`),
  ].join(' ');

const listRoutes = (paths) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    methods
      .filter((method) => operations[method])
      .map((method) => toRoute(method.toUpperCase(), path, operations[method])),
  );

const toRoute = (method, path, operation) => {
  const { summary = '', tags = [], parameters = [], requestBody, responses = {} } = operation;
  const [profile = 'other'] = tags;
  const access = toAccess(operation);
  const body = toJsonSchema(requestBody);
  return {
    method,
    path,
    base: toBase(path),
    profile,
    summary,
    access,
    inPath: toParameters(parameters, 'path'),
    inQuery: toParameters(parameters, 'query'),
    inBody: toFields(body),
    example: body && toExample(body),
    answers: Object.entries(responses).map(([status, response]) => toAnswer(status, response)),
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

const toParameters = (parameters, place) =>
  parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, required, description = '' }) => ({
      ...toField(name, schema, required),
      description: description || schema?.description || '',
    }));

const toJsonSchema = (holder) => holder?.content?.['application/json']?.schema;

const toAnswer = (status, response) => {
  const schema = toJsonSchema(response);
  return { status, shape: schema ? toShape(schema) : '' };
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

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
