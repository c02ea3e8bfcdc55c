import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { HttpError } from '../http/response/errors.ts';
import type { AccessKeys, Scope } from './access-keys.ts';
import type { Principal } from './claims.ts';
import { TokenError } from './decode.ts';
import type { Tokens } from './token.ts';

/** Who may call a route: everyone, holders of a valid token, or holders of one with role Admin. */
export type Access = 'open' | 'token' | 'admin';

const decorator = 'principal';

/**
 * The hooks that refuse callers without access to a route; an open route has none. Where a token is enough, a key with
 * the route's scope is too.
 */
export const createGuard = (
  app: FastifyInstance,
  tokens: Tokens,
  keys: AccessKeys,
): ((access: Access, scope?: Scope) => onRequestAsyncHookHandler[]) => {
  app.decorateRequest(decorator, undefined);
  const identify = async (request: FastifyRequest): Promise<void> => {
    request.setDecorator(decorator, await authenticate(tokens, readCredential(request)));
  };
  const requireAdmin: onRequestAsyncHookHandler = async (request) => {
    if (principalOf(request).role !== 'Admin') throw new HttpError('forbidden', 'This needs the role Admin');
  };
  return (access, scope) => {
    const requireToken: onRequestAsyncHookHandler = async (request) => {
      if (scope === undefined || !keys.accepts(readCredential(request), scope)) await identify(request);
    };
    return { open: [], token: [requireToken], admin: [identify, requireAdmin] }[access];
  };
};

/** The caller, on a route that needs a token. */
export const principalOf = (request: FastifyRequest): Principal => request.getDecorator<Principal>(decorator);

/** The caller if it is known: open routes read no token. */
export const findPrincipal = (request: FastifyRequest): Principal | undefined =>
  request.getDecorator<Principal | undefined>(decorator);

/** The token or key of a request; empty where there is none. */
const readCredential = ({ headers: { authorization = '' } }: FastifyRequest): string =>
  authorization.replace(/^Bearer(?: +|$)/i, '');

const authenticate = async (tokens: Tokens, token: string): Promise<Principal> => {
  if (token === '') throw new HttpError('unauthorized', 'Missing token');
  try {
    return await tokens.verify(token);
  } catch (error) {
    if (error instanceof TokenError) throw new HttpError('unauthorized', error.message);
    throw error;
  }
};
