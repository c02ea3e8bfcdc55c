/** What a request says about its sender. */
export interface Credentialed {
  headers: { authorization?: string | undefined };
}

/** The token or key of a request; empty where there is none. */
export const readCredential = ({ headers: { authorization = '' } }: Credentialed): string =>
  authorization.replace(/^Bearer(?: +|$)/i, '');
