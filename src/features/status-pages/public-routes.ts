import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { needs, openFor } from '../../auth/access.ts';
import type { Authorize } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { writeStatusPage } from './html.ts';
import type { KnownPage, PageKeeper } from './kind.ts';
import { PageParams } from './kind.ts';
import { type ServedPage, type ServedPages, sendDocument, toDocumentHeaders } from './served.ts';

export interface PublicParts {
  keeper: PageKeeper;
  pages: ServedPages;
  authorize: Authorize;
  /** True while readers can subscribe by mail. */
  hasMail(): boolean;
}

/** Document of a page. Its route requires a login only if the page does. */
interface PageDocument {
  path: string;
  operationId: string;
  summary: string;
  /** Media type of the response. */
  type: string;
  schema?: TSchema;
  querystring?: TSchema;
  /** Returns the name of the page. Default: the name in the path. */
  toName?(request: FastifyRequest): string;
  send(served: ServedPage, request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}

export const readable = { ...openFor('incidents:read'), staysOpen: true as const };

/** Creates the route that serves a document. */
export const createDocumentRoute = (
  { keeper, pages, authorize }: PublicParts,
  { path, operationId, summary, type, schema, querystring, toName, send }: PageDocument,
): Route =>
  defineRoute({
    method: 'GET',
    path,
    ...readable,
    summary,
    headers: { response: { ETag: 'Hash of the document.' } },
    schema: {
      operationId,
      ...(toName ? {} : { params: PageParams }),
      ...(querystring && { querystring }),
      response: {
        200: { content: { [type]: { schema: schema ?? Type.String() } } },
        304: Type.Null({ description: 'The document has not changed.' }),
        401: ErrorBody,
        404: ErrorBody,
      },
    },
    handler: (request, reply) => {
      const name = toName ? toName(request) : (request.params as { page: string }).page;
      return send(pages.get(requirePage(keeper, name, request, authorize)), request, reply);
    },
  });

/**
 * Returns a page that the caller may read. Throws an HttpError if there is none. The error does not name any other
 * page.
 */
export const requirePage = (
  keeper: PageKeeper,
  name: string,
  request: FastifyRequest,
  authorize: Authorize,
): KnownPage => {
  const page = keeper.find(name);
  if (!page) {
    if (!keeper.isRead) throw new StoreUnavailable('The status pages have not been read yet');
    throw new HttpError('not-found', 'There is no status page with this name');
  }
  if (page.values.access !== 'login') return page;
  const { authorization = '' } = request.headers;
  const [, basic] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  // Browsers ask for a name and a password. The token or key is entered as the password.
  if (basic !== undefined) {
    request.headers.authorization = `Bearer ${Buffer.from(basic, 'base64')
      .toString()
      .replace(/^[^:]*:/, '')}`;
  }
  const refusal = authorize(request, needs('incidents:read'));
  if (!refusal) return page;
  const headers = { 'www-authenticate': 'Bearer, Basic realm="status page", charset="UTF-8"' };
  throw refusal.kind === 'unauthorized' ? new HttpError('unauthorized', refusal.message, { headers }) : refusal;
};

/** Creates the routes of the page and its logo. */
export const createPageRoutes = (parts: PublicParts): Route[] => [
  createDocumentRoute(parts, {
    path: '/status/:page',
    operationId: 'readStatusPage',
    summary: 'Get a status page as HTML',
    type: 'text/html',
    send: (served, request, reply) => {
      const links = { hasLogo: served.page.values.logo !== undefined, hasMail: parts.hasMail() };
      reply.headers({ 'content-security-policy': served.style.policy, 'x-robots-tag': 'noarchive' });
      sendDocument(request, reply, served, {
        name: `html ${links.hasMail}`,
        type: 'text/html; charset=utf-8',
        write: (view) => writeStatusPage(view, served.style, links),
      });
    },
  }),
  createDocumentRoute(parts, {
    path: '/status/:page/logo',
    operationId: 'readStatusPageLogo',
    summary: 'Get the logo of a status page',
    type: 'image/*',
    send: ({ page }, _request, reply) => {
      const [, type, data] = /^data:(image\/[a-z+]+);base64,(.*)$/.exec(page.values.logo ?? '') ?? [];
      if (type === undefined || data === undefined) throw new HttpError('not-found', 'This status page has no logo');
      reply
        .headers({ ...toDocumentHeaders(page), 'content-security-policy': logoPolicy })
        .type(type)
        .send(Buffer.from(data, 'base64'));
    },
  }),
];

/** Content security policy for logos. A logo in SVG format must not run scripts when it is opened directly. */
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
