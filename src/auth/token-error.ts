/** Why a token is refused; the message is the 401's text. */
export class TokenError extends Error {}

/** A refusal for any cause but the three that have a message of their own. */
export const toFailure = (cause: string): TokenError => new TokenError(`Token validation failed: ${cause}`);
