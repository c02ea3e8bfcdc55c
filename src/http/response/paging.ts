import type { FastifyReply } from 'fastify';

type Query = Record<string, string | number>;

/** For the OpenAPI document. */
export const pagingHeaders = {
  'X-Total-Count': 'Number of matches on all pages.',
  Link: 'Addresses of other pages by their relations (RFC 8288), if there are any.',
};

/**
 * Adds `X-Total-Count`, and a `Link` for each other page by its relation (RFC 8288): `next`, `prev`, `first`, `last`. A
 * page is the query of the request with these members instead. Links are relative, so they hold behind a proxy that
 * serves the program below another path.
 */
export const setPaging = (
  reply: FastifyReply,
  total: number,
  query: object = {},
  pages: Record<string, Query | undefined> = {},
): void => {
  reply.header('x-total-count', total);
  const links = Object.entries(pages).flatMap(([relation, page]) => (page ? [toLink(relation, query, page)] : []));
  if (links.length > 0) reply.header('link', links.join(', '));
};

const toLink = (relation: string, query: object, page: Query): string => {
  const kept = Object.entries(query).filter(([name]) => !(name in page));
  const parameters = [...kept, ...Object.entries(page)].map((parameter) => parameter.map(encodeURIComponent).join('='));
  return `<?${parameters.join('&')}>; rel="${relation}"`;
};
