import type { ClientCredentials } from './types.ts';
import { unlessAborted } from './wait.ts';

/** Where the tokens of requests come from. */
export interface Tokens {
  /** The token to send, or none. `isNeeded`: the route refuses requests without one. */
  get(isNeeded: boolean, signal: AbortSignal): Promise<string | undefined>;
  /** Another token after this one was refused; undefined if there is none. */
  renew(refused: string | undefined, signal: AbortSignal): Promise<string | undefined>;
}

/** What a login returns. */
export interface Login {
  token: string;
  /** Seconds. */
  expiresIn: number;
}

/** Tokens are renewed this many milliseconds before they expire, or halfway if they last less than twice as long. */
const renewedBefore = 60_000;

/** Undefined if the client has no credentials. */
export const createTokens = (
  credentials: ClientCredentials | undefined,
  logIn: (user: string, password: string) => Promise<Login>,
): Tokens | undefined => {
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
const createLoginTokens = (logIn: () => Promise<Login>): Tokens => {
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
