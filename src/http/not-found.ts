import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

interface KnownPath {
  pattern: RegExp;
  methods: Set<string>;
  /** Other methods get 404 instead of 405. */
  hidden: boolean;
}

/** Route option: other methods on the path get 404 instead of 405. */
export const hiddenMethods = 'hiddenMethods';

/** Handles requests without a route: 405 with `Allow` on a known path, else 404. Call it before adding routes. */
export const answerUnknownRoutes = (app: FastifyInstance): void => {
  const paths = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const known = paths.get(url) ?? {
      pattern: toPattern(url),
      methods: new Set(),
      hidden: config !== undefined && hiddenMethods in config,
    };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(url, known);
  });
  let anyPath: RegExp | undefined;
  app.setNotFoundHandler(({ url, method }) => {
    anyPath ??= joinPatterns([...paths.values()]);
    const path = toPath(url);
    throw anyPath.test(path) ? toRefusal(path, method, [...paths.values()]) : notFound;
  });
};

const notFound = new HttpError('not-found', 'Not found');

const toRefusal = (path: string, method: string, paths: KnownPath[]): HttpError => {
  const known = paths.filter(({ pattern, hidden }) => !hidden && pattern.test(path));
  const methods = new Set(known.flatMap((each) => [...each.methods]));
  // The route exists, but its static file does not.
  if (known.length === 0 || methods.has(method)) return notFound;
  const headers = { allow: [...methods].join(', ') };
  return new HttpError('method-not-allowed', 'Method not allowed', { headers });
};

/** One expression for all paths: most unknown paths, of scanners, need no more. */
const joinPatterns = (paths: KnownPath[]): RegExp => new RegExp(paths.map(({ pattern }) => pattern.source).join('|'));

/** The path as the router reads it: decoded, without a query or fragment. */
const toPath = (url: string): string => decodeURI(url.split(/[?#]/, 1).join());

/** `/api/tasks/:id` → `^/api/tasks/[^/]*$`, `/docs/*` → `^/docs/.*$`. */
const toPattern = (url: string): RegExp => {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace('*', '.*').replace(/:[^/]+/g, '[^/]*')}$`);
};
