import { join } from 'node:path';
// Schemas have `hide` from here.
import type {} from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createServableCheck } from './public-folder.ts';

/** A folder of pages and the path that serves it. */
export interface StaticFiles {
  /** With a slash at both ends, e.g. `/docs/`. */
  prefix: string;
  root: string;
  /** The Content-Security-Policy of every file. */
  policy: string;
}

/** Serves a folder of the user's pages: no dotfiles, no listing, nothing outside the folder. The path without its slash redirects. */
export const serveStaticFiles = async (app: FastifyInstance, { prefix, root, policy }: StaticFiles): Promise<void> => {
  const isServable = createServableCheck(root);
  const headers = pageHeaders(policy);
  // Imported only when used: loading it slows down startup.
  const { default: fastifyStatic } = await import('@fastify/static');
  await app.register(fastifyStatic, {
    root,
    prefix,
    dotfiles: 'deny',
    redirect: true,
    allowedPath: (path) => isServable(join(root, path)),
    setHeaders: (response) => void response.headers(headers),
    decorateReply: false,
    schemaHide: true,
  });
  redirectToSlash(app, prefix);
};

/** Headers of every page. Browsers must revalidate a cached one before they show it. */
export const pageHeaders = (policy: string) => ({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy });

/** Redirects the prefix without its slash. */
export const redirectToSlash = (app: FastifyInstance, prefix: string): void => {
  app.get(prefix.slice(0, -1), { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};
