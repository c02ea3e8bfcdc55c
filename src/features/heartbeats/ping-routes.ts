import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { needs, openFor } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody } from '../../http/errors.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import { receivePing } from './receive-ping.ts';
import type { Ping } from './records.ts';
import { PingBody, PingParams, PingQuery, SignalParams } from './schema.ts';
import type { HeartbeatStore } from './store.ts';

interface PingRouteParts extends Pick<Parts, 'authorize' | 'clock'> {
  store: HeartbeatStore;
  keeper: HeartbeatKeeper;
  count(type: Ping['type']): void;
}

type PingRequest = FastifyRequest & {
  params: { address: string; signal?: string };
  /** Not validated for requests with a body. */
  query: { rid?: unknown; create?: unknown };
};

const Ok = Type.String({ examples: ['OK'] });
const response = {
  200: { content: { 'text/plain': { schema: Ok } } },
  201: { content: { 'text/plain': { schema: Ok } } },
  401: ErrorBody,
  403: ErrorBody,
  404: ErrorBody,
};

/** Creates the ping routes. They also serve the clients of healthchecks. GET, HEAD and POST have the same effect. */
export const createPingRoutes = (parts: PingRouteParts): Route[] => {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const { params, query, body } = request as PingRequest;
    const isNew = await receivePing(
      {
        ...parts,
        assertAllowed: (right) => {
          const refusal = parts.authorize(request, needs(right));
          if (refusal) throw refusal;
        },
      },
      {
        address: params.address,
        signal: params.signal,
        rid: query.rid,
        create: query.create,
        body,
        readCaller: () => callerOf(request),
      },
    );
    reply.code(isNew ? 201 : 200).type('text/plain; charset=utf-8');
    return 'OK';
  };
  const common = { ...openFor('heartbeats:ping'), staysOpen: true, handler } as const;
  const end = { ...common, path: '/ping/:address', summary: 'Report that the job has succeeded' } as const;
  const withBody = {
    // A ping counts, whatever its body.
    body: 'end',
    validatorCompiler: () => () => true,
  } as const;
  const signal = {
    ...common,
    path: '/ping/:address/:signal',
    summary: 'Report the start, failure or exit code of the job, or a log text',
  } as const;
  const consumes = ['text/plain', 'application/json'];
  const shared = { querystring: PingQuery, response } as const;
  return [
    defineRoute({ ...end, method: 'GET', schema: { operationId: 'ping', params: PingParams, ...shared } }),
    defineRoute({
      ...end,
      ...withBody,
      method: 'POST',
      schema: { operationId: 'pingWithOutput', params: PingParams, consumes, body: PingBody, response },
    }),
    defineRoute({ ...signal, method: 'GET', schema: { operationId: 'pingSignal', params: SignalParams, ...shared } }),
    defineRoute({
      ...signal,
      ...withBody,
      method: 'POST',
      schema: { operationId: 'pingSignalWithOutput', params: SignalParams, consumes, body: PingBody, response },
    }),
  ];
};
