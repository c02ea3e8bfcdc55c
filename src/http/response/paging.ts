import type { FastifyReply } from 'fastify';

/** The query of another page; undefined members are left out. */
type Query = Record<string, string | number | undefined>;

/** For the OpenAPI document. */
export const pagingHeaders = {
  'X-Total-Count': 'Number of matches on all pages.',
  Link: 'Addresses of other pages by their relations (RFC 8288), if there are any.',
};

/**
 * Adds `X-Total-Count`, and a `Link` for each other page by its relation (RFC 8288): `next`, `prev`, `first`, `last`. Links
 * are relative, so they hold behind a proxy that serves the program below another path.
 */
export const setPaging = (reply: FastifyReply, total: number, pages: Record<string, Query | undefined>): void => {
  reply.header('x-total-count', total);
  const links = Object.entries(pages).flatMap(([relation, query]) => (query ? [toLink(relation, query)] : []));
  if (links.length > 0) reply.header('link', links.join(', '));
};

const toLink = (relation: string, query: Query): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.append(name, String(value));
  return `<?${parameters}>; rel="${relation}"`;
};
