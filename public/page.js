// Shows the API reference from the OpenAPI document with Scalar (scalar.js). Loads nothing from other hosts.

/** If a browser allows no storage, using it throws, and Scalar would stop. Scalar gets empty storage in that case. */
for (const name of ['localStorage', 'sessionStorage']) {
  try {
    window[name].getItem('');
  } catch {
    const empty = { length: 0, key: () => null, getItem: () => null, setItem() {}, removeItem() {}, clear() {} };
    Object.defineProperty(window, name, { value: empty });
  }
}

// Otherwise, Scalar's library zod tests if the policy allows eval.
window.__zod_globalConfig = { jitless: true };

const readStored = (storage, key) => {
  try {
    return JSON.parse(storage.getItem(key)) ?? {};
  } catch {
    return {};
  }
};

/**
 * Turns off optional parameters, which are sent only if they are turned on, because a search for the examples of all of
 * them would find nothing.
 */
const fetchDocument = async (url, options) => {
  const response = await fetch(url, options);
  // Requests that users try out also arrive here, as a Request.
  if (typeof url !== 'string' || !response.ok) return response;
  const document = await response.json();
  const operations = Object.values(document.paths).flatMap(Object.values);
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { required, schema } = parameter;
    const value = schema.examples?.[0] ?? schema.default ?? '';
    if (!required) parameter.examples = { default: { value, 'x-disabled': true } };
  }
  return Response.json(document);
};

const showReference = () => {
  // Login that the console stores in this tab.
  const { token, expiresAt } = readStored(sessionStorage, 'signalbox-session');
  const isLoggedIn = typeof token === 'string' && expiresAt > Date.now();
  const { theme } = readStored(localStorage, 'signalbox-preferences');
  window.Scalar.createApiReference('#reference', {
    url: '../openapi.json',
    documentDownloadType: 'direct',
    customFetch: fetchDocument,
    // A proxy may serve signalbox under a path.
    servers: [{ url: new URL('..', location.href).href.replace(/\/$/, ''), description: 'This server' }],
    authentication: {
      preferredSecurityScheme: 'bearer',
      ...(isLoggedIn && { securitySchemes: { bearer: { token } } }),
    },
    ...(['light', 'dark'].includes(theme) && { forceDarkModeState: theme }),
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
  });
};

addEventListener('DOMContentLoaded', showReference);
