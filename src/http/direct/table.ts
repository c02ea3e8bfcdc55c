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

/** By the whole path, and by the path up to the parameter that it ends in. */
interface Routes {
  whole: Map<string, DirectRoute>;
  upToParameter: Map<string, DirectRoute>;
}

/** Paths in which nothing, or just the last segment, is a parameter. */
const simplePath = /^([^:*]*\/)(?::(\w+)|[^:*/]*)$/;

/** Collects the direct routes among those that come after it, and finds the one for a request. */
export const createDirectTable = (app: FastifyInstance) => {
  const byMethod = new Map<string, Routes>();
  for (const method of ['GET', 'POST']) byMethod.set(method, { whole: new Map(), upToParameter: new Map() });
  app.addHook('onRoute', function (options) {
    const routes = byMethod.get(String(options.method));
    const respond = (options.config as { [directAnswer]?: Respond } | undefined)?.[directAnswer];
    const [, start, parameter] = simplePath.exec(options.url) ?? [];
    if (!routes || !respond || start === undefined) return;
    this.addHook('onReady', async () => {
      const route = createDirectRoute(this, options, parameter, respond);
      if (parameter === undefined) routes.whole.set(options.url, route);
      else routes.upToParameter.set(start, route);
    });
  });
  return (method: string, url: string): Match | undefined => {
    const routes = byMethod.get(method);
    return routes && findRoute(routes, url);
  };
};

const findRoute = ({ whole, upToParameter }: Routes, url: string): Match | undefined => {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark + 1);
  const literal = whole.get(path);
  if (literal) return { route: literal, segment: '', query };
  const start = path.lastIndexOf('/') + 1;
  const route = upToParameter.get(path.slice(0, start));
  const segment = path.slice(start);
  return route && isPlain(segment) ? { route, segment, query } : undefined;
};

/** Whether a segment is there, needs no decoding, and for Fastify too is all that comes behind the slash. */
const isPlain = (segment: string): boolean =>
  segment !== '' && !segment.includes('%') && !segment.includes('#');
