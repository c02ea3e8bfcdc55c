// The API reference, which Scalar (scalar.js) shows from the OpenAPI document. Nothing is loaded from other hosts.

/** A browser that allows no storage throws when it is used, and Scalar would stop: it gets an empty one. */
for (const name of ['localStorage', 'sessionStorage']) {
  try {
    window[name].getItem('');
  } catch {
    const empty = { length: 0, key: () => null, getItem: () => null, setItem() {}, removeItem() {}, clear() {} };
    Object.defineProperty(window, name, { value: empty });
  }
}

const readStored = (storage, key) => {
  try {
    return JSON.parse(storage.getItem(key)) ?? {};
  } catch {
    return {};
  }
};

const showReference = () => {
  // A login that the console keeps in this tab.
  const { token, expiresAt } = readStored(sessionStorage, 'signalbox-session');
  const isLoggedIn = typeof token === 'string' && expiresAt > Date.now();
  const { theme } = readStored(localStorage, 'signalbox-preferences');
  window.Scalar.createApiReference('#reference', {
    url: '../openapi.json',
    // A proxy may serve signalbox below a path.
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
