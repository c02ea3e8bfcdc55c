import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../response/errors.ts';
import { createServableCheck } from './public-folder.ts';

/** A folder of pages and the path that serves it. */
export interface StaticFiles {
  /** With a slash at both ends, e.g. `/docs/`. */
  prefix: string;
  root: string;
  /** The Content-Security-Policy of every file. */
  policy: string;
}

/** Serves a folder of pages: no dotfiles, no listing, nothing outside the folder. The path without its slash redirects. */
export const serveStaticFiles = async (app: FastifyInstance, { prefix, root, policy }: StaticFiles): Promise<void> => {
  const isServable = createServableCheck(root);
  // Browsers must revalidate a cached file before they show it.
  const headers = { 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy };
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

/** Answers requests for pages that are not there with 404 and the reason. */
export const serveMissingPages = (app: FastifyInstance, prefix: string, reason: string): void => {
  app.get(`${prefix}*`, { schema: { hide: true } }, () => {
    throw new HttpError('not-found', reason);
  });
  redirectToSlash(app, prefix);
};

const redirectToSlash = (app: FastifyInstance, prefix: string): void => {
  app.get(prefix.slice(0, -1), { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};
