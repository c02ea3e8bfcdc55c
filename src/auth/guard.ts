import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { HttpError } from '../http/response/errors.ts';
import type { AccessKeys } from './access-keys.ts';
import type { Principal } from './claims.ts';
import { readCredential } from './credential.ts';
import { decodeToken, TokenError } from './decode.ts';
import type { Scope } from './scopes.ts';
import type { Tokens } from './token.ts';

/** Who may call a route: everyone, holders of a valid token, or holders of one with role Admin. */
export type Access = 'open' | 'token' | 'admin';

const decorator = 'principal';

/**
 * The hooks that refuse callers without access to a route; an open route has none. A key with the route's scope is as good
 * as a token.
 */
export const createGuard = (app: FastifyInstance, authorize: Authorize) => {
  app.decorateRequest(decorator, undefined);
  return (access: Access, scope?: Scope): onRequestAsyncHookHandler[] =>
    access === 'open' ? [] : [(request) => authorize(request, access, scope)];
};

/** Rejects with the 401 or 403 for a caller without access, and notes who the caller is. */
export type Authorize = (request: FastifyRequest, access: Access, scope?: Scope) => Promise<void>;

export const createAuthorize = (tokens: Tokens, keys: AccessKeys): Authorize => {
  const identify = async (request: FastifyRequest): Promise<void> => {
    request.setDecorator(decorator, await authenticate(tokens, readCredential(request)));
  };
  return async (request, access, scope) => {
    if (access === 'open') return;
    const isKey = scope !== undefined && keys.accepts(readCredential(request), scope);
    if (isKey) return;
    // A known key without the scope is a token without three parts.
    if (keys.isUnknown(readCredential(request))) throw new HttpError('unauthorized', 'Unknown or revoked key');
    await identify(request);
    if (access === 'admin' && principalOf(request).role !== 'Admin') {
      throw new HttpError('forbidden', 'This needs the role Admin');
    }
  };
};

/** The caller, on a route that needs a token. */
export const principalOf = (request: FastifyRequest): Principal => request.getDecorator<Principal>(decorator);

/** The caller; undefined on open routes, which read no token. */
export const findPrincipal = (request: FastifyRequest): Principal | undefined =>
  request.getDecorator<Principal | undefined>(decorator);

/** When the caller's token expires, in Unix seconds; undefined without a token. */
export const findExpiry = (request: FastifyRequest): number | undefined =>
  findPrincipal(request) && Number(decodeToken(readCredential(request)).claims['exp']);

const authenticate = async (tokens: Tokens, token: string): Promise<Principal> => {
  if (token === '') throw new HttpError('unauthorized', 'Missing token');
  try {
    return await tokens.verify(token);
  } catch (error) {
    if (error instanceof TokenError) throw new HttpError('unauthorized', error.message);
    throw error;
  }
};
