import { computed, signal } from '@preact/signals';

/** Login session. The token is kept in memory and, if the user asks for it, also in sessionStorage. */
interface Session {
  name: string;
  role: 'Admin' | 'Reader';
  token: string;
  /** Expiry in milliseconds by the browser's clock. */
  expiresAt: number;
}

const storageKey = 'signalbox-session';

const current = signal<Session | undefined>(undefined);

export const session = computed(() => current.value);

/** True while the login dialog is open. */
export const isLoginOpen = signal(false);

export const openLogin = (): void => {
  isLoginOpen.value = true;
};

/** True if the last session expired, so that the login dialog says so. */
export const hasExpired = signal(false);

/** Callers waiting for a login, for example after a 401. */
let waiting: ((isLoggedIn: boolean) => void)[] = [];
let expiry: ReturnType<typeof setTimeout> | undefined;

/** Restores a session stored in this tab. */
export const restoreSession = (): void => {
  const stored = readStored();
  if (stored && stored.expiresAt > Date.now()) begin(stored);
};

export const logIn = (begun: Session, keep: boolean): void => {
  store(keep ? begun : undefined);
  begin(begun);
  closeLogin();
};

/** Continues the session with a new token. */
export const renew = (token: string, expiresAt: number): void => {
  if (!current.value) return;
  const renewed = { ...current.value, token, expiresAt };
  if (readStored()) store(renewed);
  begin(renewed);
};

/** Runs a change that invalidates the current token, then continues with the new token from the response. */
export const outlast = async (change: () => Promise<{ token: string; expiresIn: number }>): Promise<void> => {
  const [before, isKept] = [current.value, readStored() !== undefined];
  const { token, expiresIn } = await change();
  const present = current.value ?? before;
  if (!present) return;
  const renewed = { ...present, token, expiresAt: Date.now() + expiresIn * 1000 };
  logIn(renewed, isKept || readStored() !== undefined);
};

/** Callbacks that send pending requests before the token is discarded. */
const beforeLogOut: (() => void)[] = [];

export const onLogOut = (action: () => void): void => void beforeLogOut.push(action);

export const logOut = (): void => {
  for (const action of beforeLogOut) action();
  hasExpired.value = false;
  end();
};

/** Ends a session whose token the server no longer accepts. */
export const expireSession = (): void => {
  if (!current.value) return;
  hasExpired.value = true;
  end();
};

/**
 * Opens the login dialog over the current screen. Resolves to true after a login, or to false if the dialog is closed.
 */
export const requestLogin = (): Promise<boolean> => {
  openLogin();
  return new Promise((resolve) => waiting.push(resolve));
};

export const closeLogin = (): void => {
  isLoginOpen.value = false;
  const woken = waiting;
  waiting = [];
  for (const wake of woken) wake(current.value !== undefined);
};

const begin = (begun: Session): void => {
  clearTimeout(expiry);
  hasExpired.value = false;
  current.value = begun;
  expiry = setTimeout(expireSession, begun.expiresAt - Date.now());
};

const end = (): void => {
  clearTimeout(expiry);
  store(undefined);
  current.value = undefined;
};

const store = (kept: Session | undefined): void => {
  try {
    if (kept) sessionStorage.setItem(storageKey, JSON.stringify(kept));
    else sessionStorage.removeItem(storageKey);
  } catch {
    // The browser blocks storage, so the session lasts only until the page is closed.
  }
};

const readStored = (): Session | undefined => {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
};
