import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const contentSecurityPolicy =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** Serves `/docs/` from the folder `root`: no dotfiles, no listing, nothing outside the folder. */
export const serveDocs = async (app: FastifyInstance, root: string): Promise<void> => {
  const realRoot = realpathSync(root);
  await app.register(fastifyStatic, {
    root,
    prefix: '/docs/',
    dotfiles: 'deny',
    allowedPath: (path) => isInside(realRoot, join(root, path)),
    setHeaders: (response) => {
      response.header('Content-Security-Policy', contentSecurityPolicy);
      response.header('X-Content-Type-Options', 'nosniff');
    },
    schemaHide: true,
  });
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/'));
};

/** Whether the path, with its links followed, is the folder or in it; a path that is not there is no danger. */
const isInside = (folder: string, path: string): boolean => {
  try {
    const real = realpathSync(path);
    return real === folder || real.startsWith(folder + sep);
  } catch {
    return true;
  }
};
