import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { createServableCheck } from './public-folder.ts';

const headers = {
  // Files are asked about again before they are shown again.
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
};

/** Serves `/docs/` from the folder `root`: no dotfiles, no listing, nothing outside the folder. */
export const serveDocs = async (app: FastifyInstance, root: string): Promise<void> => {
  const isServable = createServableCheck(root);
  await app.register(fastifyStatic, {
    root,
    prefix: '/docs/',
    dotfiles: 'deny',
    allowedPath: (path) => isServable(join(root, path)),
    setHeaders: (response) => void response.headers(headers),
    schemaHide: true,
  });
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/'));
};
