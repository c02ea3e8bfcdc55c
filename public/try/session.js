/**
 * The login of this page: `{ name, role, token, expiresAt }`, with the time in milliseconds of the browser's clock. It is
 * kept in memory, and in sessionStorage only if the user chose so; the console uses the same entry. A token or key that
 * was pasted has no name and is never stored.
 */

const storageKey = 'signalbox-session';

/** Milliseconds that a timer can wait. */
const longestWait = 2 ** 31 - 1;

let current;
let isKept = false;
let expiry;
const listeners = new Set();

export const getSession = () => current;

/** Calls the listener now and after each login and logout. */
export const onSession = (listener) => {
  listeners.add(listener);
  listener(current);
};

/** Begins a session; `keep` stores it for this tab. */
export const beginSession = (session, keep = false) => {
  store(keep ? session : undefined);
  isKept = keep;
  change(session);
};

/** A token or key as the session, until the page is closed. */
export const useToken = (token) => beginSession({ token, expiresAt: Number.POSITIVE_INFINITY });

export const endSession = () => {
  store(undefined);
  isKept = false;
  change(undefined);
};

/** Takes over the session that is stored in this tab; without one, ends a session that was stored before. */
export const restoreSession = () => {
  const stored = readStored();
  const isValid = typeof stored?.token === 'string' && stored.expiresAt > Date.now();
  if (isValid) change(stored);
  else if (isKept) change(undefined);
  isKept = isValid;
};

const change = (session) => {
  current = session;
  clearTimeout(expiry);
  if (session) expiry = setTimeout(endExpired, Math.min(session.expiresAt - Date.now(), longestWait));
  for (const listener of listeners) listener(current);
};

const endExpired = () => {
  if (current.expiresAt <= Date.now()) endSession();
  else change(current);
};

const store = (session) => {
  try {
    if (session) sessionStorage.setItem(storageKey, JSON.stringify(session));
    else sessionStorage.removeItem(storageKey);
  } catch {
    // Without storage the session lasts until the page is closed.
  }
};

const readStored = () => {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null');
  } catch {
    return null;
  }
};
