import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Distribution, Meters } from '../../metrics/meters.ts';
import { type HttpError, type ShedReason, shedReasons } from './errors.ts';

/** Upper bounds in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The responses of one method on one route. */
export interface Timing {
  observe(status: number, seconds: number): void;
}

/** A response that may be timed: see the response class. */
interface Timed {
  timing?: Timing | undefined;
}

/** Leaves out a response whose length says nothing about the server, such as a stream of events. */
export const skipTiming = ({ raw }: FastifyReply): void => {
  (raw as Timed).timing = undefined;
};

/** Times responses by the patterns of their routes, and counts refusals because of load. */
export const createTimings = (meters: Meters) => {
  const durations = meters.histogram(
    'http_request_duration_seconds',
    'Time from the headers of a request to the end of its response, by route.',
    ['method', 'route', 'status_code'],
    bounds,
  );
  const shed = meters.counter(
    'signalbox_requests_shed_total',
    'Requests refused because of load.',
    ['reason'],
    shedReasons,
  );
  const known = new Map<string, Timing>();
  const find = (method: string, route: string): Timing => {
    const key = `${method} ${route}`;
    const timing = known.get(key) ?? createTiming((status) => durations.at(method, route, status));
    known.set(key, timing);
    return timing;
  };
  const noteShed = (reason: ShedReason | undefined): void => {
    if (reason !== undefined) shed.at(reason).value += 1;
  };
  return {
    /** Times the responses of the routes that are added later. */
    timeRoutes: (app: FastifyInstance): void => {
      app.addHook('onRoute', (options) => {
        const { handler, url, method } = options;
        const timing = typeof method === 'string' ? find(method, url) : undefined;
        options.handler = function handle(request, reply) {
          (reply.raw as Timed).timing = timing ?? find(request.method, url);
          return handler.call(this, request, reply);
        };
      });
    },
    /** Counts a request that is refused before it reaches the router. */
    noteShed,
    /** Counts an error of a route, whose handler may not have been reached; a request may also have no route. */
    noteError: (error: unknown, { request, raw }: FastifyReply): void => {
      noteShed((error as Partial<HttpError> | undefined)?.shed);
      (raw as Timed).timing ??= find(request.method, request.routeOptions.url ?? 'none');
    },
  };
};

export type Timings = ReturnType<typeof createTimings>;

const createTiming = (at: (status: string) => Distribution): Timing => {
  const byStatus: Record<number, Distribution> = {};
  return {
    observe: (status, seconds) => {
      byStatus[status] ??= at(String(status));
      byStatus[status].observe(seconds);
    },
  };
};
