import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { HttpError } from '../http/response/errors.ts';
import type { Principal } from './claims.ts';
import { TokenError } from './decode.ts';
import type { Tokens } from './token.ts';

/** Who may call a route: everyone, holders of a valid token, or holders of one with role Admin. */
export type Access = 'open' | 'token' | 'admin';

const decorator = 'principal';

/** The hooks that refuse callers without access to a route; an open route has none. */
export const createGuard = (
  app: FastifyInstance,
  tokens: Tokens,
): ((access: Access) => onRequestAsyncHookHandler[]) => {
  app.decorateRequest(decorator, undefined);
  const requireToken: onRequestAsyncHookHandler = async (request) => {
    request.setDecorator(decorator, await authenticate(tokens, request.headers.authorization));
  };
  const requireAdmin: onRequestAsyncHookHandler = async (request) => {
    if (principalOf(request).role !== 'Admin') throw new HttpError('forbidden', 'This needs the role Admin');
  };
  const hooks = { open: [], token: [requireToken], admin: [requireToken, requireAdmin] };
  return (access) => hooks[access];
};

/** The caller, on a route that needs a token. */
export const principalOf = (request: FastifyRequest): Principal => request.getDecorator<Principal>(decorator);

/** The caller; undefined on open routes, which read no token. */
export const findPrincipal = (request: FastifyRequest): Principal | undefined =>
  request.getDecorator<Principal | undefined>(decorator);

const authenticate = async (tokens: Tokens, authorization = ''): Promise<Principal> => {
  const token = authorization.replace(/^Bearer(?: +|$)/i, '');
  if (token === '') throw new HttpError('unauthorized', 'Missing token');
  try {
    return await tokens.verify(token);
  } catch (error) {
    if (error instanceof TokenError) throw new HttpError('unauthorized', error.message);
    throw error;
  }
};
