import type { FastifyInstance } from 'fastify';
import type { Respond } from './answer.ts';
import { createDirectRoute, type DirectRoute } from './route.ts';

/** Route option: what makes the route's answer. */
export const directAnswer = 'directAnswer';

interface Match {
  route: DirectRoute;
  /** The path's last segment, where that is a parameter. */
  segment: string;
  /** What stands behind `?`. */
  query: string;
}

/** Paths whose last segment, and no other, is a parameter. */
const parameterPath = /^(\/[^:*]*\/):(\w+)$/;

/** Segments that need no decoding. */
const plain = /^[\w.~-]+$/;

/** Collects the direct routes among those that come after it, and finds the one for a request. */
export const createDirectTable = (app: FastifyInstance) => {
  const byPath: Record<string, Map<string, DirectRoute>> = { GET: new Map(), POST: new Map() };
  app.addHook('onRoute', function (options) {
    const routes = byPath[String(options.method)];
    const respond = (options.config as { [directAnswer]?: Respond } | undefined)?.[directAnswer];
    if (!routes || !respond) return;
    const [, path = options.url, parameter] = parameterPath.exec(options.url) ?? [];
    this.addHook('onReady', async () => {
      routes.set(path, createDirectRoute(this, options, parameter, respond));
    });
  });
  return (method: string, url: string): Match | undefined => {
    const routes = byPath[method];
    if (!routes) return undefined;
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const query = mark === -1 ? '' : url.slice(mark + 1);
    const whole = routes.get(path);
    if (whole) return { route: whole, segment: '', query };
    const end = path.lastIndexOf('/') + 1;
    const route = routes.get(path.slice(0, end));
    const segment = path.slice(end);
    return route && plain.test(segment) ? { route, segment, query } : undefined;
  };
};
