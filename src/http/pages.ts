import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from './errors.ts';
import { toOwnTags } from './text-forms.ts';

/**
 * Content-Security-Policy of pages. They may load files from, and connect to, this server only, and cannot be framed.
 */
export const pagePolicy =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** Folder of pages, with the path under which it is served. */
interface StaticFiles {
  /** Path with a slash at both ends, e.g. `/docs/`. */
  prefix: string;
  root: string;
  /** Content-Security-Policy of every file. */
  policy: string;
}

/**
 * Serves a folder of the user's pages. Leaves out dotfiles, listings, and anything outside the folder. The path without
 * its trailing slash redirects.
 */
export const serveStaticFiles = async (app: FastifyInstance, { prefix, root, policy }: StaticFiles): Promise<void> => {
  const isServable = createServableCheck(root);
  const headers = pageHeaders(policy);
  // Imported only when used, because loading it slows down startup.
  const { default: fastifyStatic } = await import('@fastify/static');
  await app.register(async (scope) => {
    scope.addHook('onRequest', async ({ raw }) => {
      const known = raw.headers['if-none-match'];
      if (known !== undefined) raw.headers['if-none-match'] = toOwnTags(known);
    });
    await scope.register(fastifyStatic, {
      root,
      prefix,
      dotfiles: 'deny',
      redirect: true,
      allowedPath: (path) => isServable(join(root, path)),
      setHeaders: (response) => void response.headers(headers),
      decorateReply: false,
      schemaHide: true,
    });
  });
  redirectToSlash(app, prefix);
};

/** Headers of every page. Browsers must revalidate a cached page before showing it. */
const pageHeaders = (policy: string) => ({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy });

/** Redirects the prefix without its slash. */
const redirectToSlash = (app: FastifyInstance, prefix: string): void => {
  app.get(prefix.slice(0, -1), { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};

/**
 * Maximum number of entries that are checked on startup. In a larger folder, the other entries are checked on request.
 */
const maxEntries = 10_000;

/**
 * Creates a check for paths that may be served: regular files and folders that are inside `root` after links have been
 * followed. Reading anything else, such as a named pipe, could hang.
 */
export const createServableCheck = (root: string): ((path: string) => boolean) => {
  const realRoot = realpathSync(root);
  return (path) => {
    try {
      const stat = statSync(path);
      return (stat.isFile() || stat.isDirectory()) && isInside(realRoot, realpathSync(path));
    } catch {
      return false;
    }
  };
};

/**
 * Returns the first link below `root` that leads outside. Undefined if there is none. Ignores dotfiles, because they
 * are never served.
 */
export const findEscapingLink = (root: string): string | undefined => {
  const realRoot = realpathSync(root);
  const folders = [root];
  let left = maxEntries;
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const entry of listEntries(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (entry.isSymbolicLink() && !isInside(realRoot, follow(path) ?? realRoot)) return path;
      left -= 1;
    }
  }
  return undefined;
};

const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Returns the target of a link. Undefined if the target does not exist. */
const follow = (link: string): string | undefined => {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
};

const listEntries = (folder: string): Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  } catch {
    // A folder that cannot be listed cannot be served either.
    return [];
  }
};

/**
 * Reads a file by its path below the program's folder, e.g. `dist/public/index.html`. Undefined if the file is missing.
 */
export type ReadFile = (path: string) => Buffer | undefined;

/** Pages of the program, with the path under which they are served. */
export interface ProgramPages {
  /** Path with a slash at both ends, e.g. `/docs/`. */
  prefix: string;
  /** Folder below the program's folder, e.g. `dist/public`. */
  folder: string;
  /** Content-Security-Policy of every page. */
  policy: string;
}

/** Creates a reader of files below a folder. */
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

/** Pattern for names of files and folders that may be served. Allows neither dotfiles nor `..`. */
const servable = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Serves pages of the program. Files are read for each request, because a build may replace them in the meantime. A
 * large file is stored gzipped, with `.gz` appended to its name. If data is given, `index.html` contains it as JSON in
 * the element `#data`.
 */
export const serveProgramPages = (
  app: FastifyInstance,
  { prefix, folder, policy }: ProgramPages,
  read: ReadFile,
  getData?: () => object,
): void => {
  const pages = new Map<string, StaticText>();
  app.get<{ Params: { '*': string } }>(`${prefix}*`, { schema: { hide: true } }, (request, reply) => {
    const path = request.params['*'] || 'index.html';
    const readPage = (ending: string) => (servable.test(path) ? read(`${folder}/${path}${ending}`) : undefined);
    const file = readPage('');
    const plain = file && getData && path === 'index.html' ? addData(file, getData()) : file;
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

/** Adds data to a page, as a script of a type that is not run and that the policy therefore allows. */
const addData = (page: Buffer, data: object): Buffer => {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const script = `<script id="data" type="application/json">${json}</script>\n</head>`;
  return Buffer.from(page.toString().replace('</head>', () => script));
};

/** Answers requests for missing pages with 404 and the reason. */
export const serveMissingPages = (app: FastifyInstance, prefix: string, reason: string): void => {
  app.get(`${prefix}*`, { schema: { hide: true } }, () => {
    throw new HttpError('not-found', reason);
  });
  redirectToSlash(app, prefix);
};

/**
 * Text for any number of clients. It is compressed only once, and not sent again to a client that already has it. The
 * content may already be gzipped, because nearly all clients accept gzip.
 */
export class StaticText {
  readonly content: Buffer;
  readonly #hash: string;
  #plain: Buffer | undefined;
  #gzipped: Buffer | undefined;

  constructor(content: Buffer, isGzipped = false) {
    this.content = content;
    if (isGzipped) this.#gzipped = content;
    else this.#plain = content;
    this.#hash = createHash('sha256').update(content).digest('base64url');
  }

  /** Sends the text with the reply's type and status. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const isGzip = acceptsGzip(request.headers['accept-encoding']);
    const tag = `"${this.#hash}"`;
    reply.headers({ ETag: isGzip ? `"${this.#hash}-gzip"` : tag, Vary: 'Accept-Encoding' });
    if (toOwnTags(request.headers['if-none-match'] ?? '').includes(tag)) return reply.code(304).send();
    if (!isGzip) {
      this.#plain ??= gunzipSync(this.content);
      return reply.send(this.#plain);
    }
    this.#gzipped ??= gzipSync(this.content, { level: 9 });
    return reply.header('Content-Encoding', 'gzip').send(this.#gzipped);
  }
}

/** True if Accept-Encoding names gzip with a weight above 0 (RFC 9110, 12.5.3). */
const acceptsGzip = (accepted = ''): boolean =>
  accepted.split(',').some((each) => /^\s*gzip\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(each));
