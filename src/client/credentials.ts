import { type HeldTokens, unlessAborted } from './send.ts';
import type { ClientCredentials } from './types.ts';

/** What a login returns. */
export interface Login {
  token: string;
  /** Seconds. */
  expiresIn: number;
}

/** HeldTokens are renewed this many milliseconds before they expire, or halfway if they last less than twice as long. */
const renewedBefore = 60_000;

/** Undefined if the client has no credentials. */
export const createHeldTokens = (
  credentials: ClientCredentials | undefined,
  logIn: (user: string, password: string) => Promise<Login>,
): HeldTokens | undefined => {
  if (!credentials) return undefined;
  if ('user' in credentials) return createLoginTokens(() => logIn(credentials.user, credentials.password));
  const given = 'key' in credentials ? credentials.key : credentials.token;
  const get = async (refused?: string) => (typeof given === 'function' ? given(refused) : given);
  return {
    get: () => get(),
    renew: async (refused) => {
      const other = await get(refused);
      return other === refused ? undefined : other;
    },
  };
};

/** Logs in when a token is needed, and again before it expires. Calls that need one at the same time share a login. */
const createLoginTokens = (logIn: () => Promise<Login>): HeldTokens => {
  let token: string | undefined;
  let renewAt = 0;
  let running: Promise<string> | undefined;
  const logInOnce = (): Promise<string> => {
    running ??= logIn()
      .then((login) => {
        const lifetime = login.expiresIn * 1000;
        renewAt = Date.now() + lifetime - Math.min(renewedBefore, lifetime / 2);
        token = login.token;
        return token;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return {
    get: async (isNeeded, signal) => {
      const isFresh = token !== undefined && Date.now() < renewAt;
      if (isFresh || (token === undefined && !isNeeded)) return token;
      return unlessAborted(logInOnce(), signal);
    },
    // Another call may have renewed it meanwhile.
    renew: async (refused, signal) => (token !== refused ? token : unlessAborted(logInOnce(), signal)),
  };
};
