import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
// Schemas have `hide` from here.
import type {} from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../response/errors.ts';
import { StaticText } from '../response/static-text.ts';
import { pageHeaders, redirectToSlash } from './static-files.ts';

/** Reads a file by its path below the program's folder, e.g. `dist/public/index.html`; undefined if there is none. */
export type ReadFile = (path: string) => Buffer | undefined;

/** Pages that are part of the program, and the path that serves them. */
export interface ProgramPages {
  /** With a slash at both ends, e.g. `/docs/`. */
  prefix: string;
  /** Below the program's folder, e.g. `dist/public`. */
  folder: string;
  /** The Content-Security-Policy of every page. */
  policy: string;
}

/** Reads files below a folder. */
export const readFrom =
  (root: string): ReadFile =>
  (path) => {
    try {
      return readFileSync(join(root, path));
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  };

/** Names of files and folders that may be served: no dotfiles, nothing that leads elsewhere. */
const servable = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Serves pages of the program. They are read for each request, since a build may replace them meanwhile. A large file
 * is stored gzipped, with `.gz` after its name.
 */
export const serveProgramPages = (
  app: FastifyInstance,
  { prefix, folder, policy }: ProgramPages,
  read: ReadFile,
): void => {
  const pages = new Map<string, StaticText>();
  app.get<{ Params: { '*': string } }>(`${prefix}*`, { schema: { hide: true } }, (request, reply) => {
    const path = request.params['*'] || 'index.html';
    const readPage = (ending: string) => (servable.test(path) ? read(`${folder}/${path}${ending}`) : undefined);
    const plain = readPage('');
    const content = plain ?? readPage('.gz');
    if (content === undefined) return reply.callNotFound();
    const known = pages.get(path);
    const page = known?.content.equals(content) ? known : new StaticText(content, plain === undefined);
    pages.set(path, page);
    reply.headers(pageHeaders(policy)).type(types[extname(path)] ?? 'application/octet-stream');
    return page.send(request, reply);
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
