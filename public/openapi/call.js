/**
 * The values that a form for the route starts with: `{ inPath, inQuery, body }`. Only what must be sent is filled in,
 * and the parameters of streams, which send nothing without them.
 */
export const toStartValues = ({ inPath, inQuery, example, isStream }) => ({
  inPath: toRecord(inPath, (field) => field.example ?? 1),
  inQuery: toRecord(inQuery, (field) => (field.isRequired || isStream ? (field.example ?? '') : '')),
  body: example === undefined ? '' : JSON.stringify(example, null, 2),
});

/**
 * The request with these values, without a token: `{ method, url, type, body, needsToken, isStream, returnsJson }`. `server`
 * is the base URL without a trailing slash. Parameters without a value are left out.
 */
export const toCall = (route, { inPath, inQuery, body }, server) => ({
  method: route.method,
  url: server + fillPath(route.path, inPath) + toQuery(inQuery),
  type: body && (route.bodyTypes?.[0] ?? 'application/json'),
  body,
  needsToken: route.access !== 'open',
  isStream: route.isStream,
  returnsJson: !(route.answers ?? []).some(({ type }) => type.startsWith('text/')),
});

const toRecord = (fields, toValue) => Object.fromEntries(fields.map((field) => [field.name, String(toValue(field))]));

const fillPath = (path, values) => path.replaceAll(/\{([^}]*)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));

const toQuery = (values) => {
  const filled = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
  // Commas and colons mean nothing in a query, and times and lists are easier to read with them.
  return filled.size === 0 ? '' : `?${filled}`.replaceAll('%2C', ',').replaceAll('%3A', ':');
};
