import { stripVTControlCharacters } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { needs, openFor } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { isUuid } from './definition.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { Ping } from './records.ts';
import { PingBody, PingParams, PingQuery, SignalParams } from './schema.ts';
import type { HeartbeatStore } from './store.ts';

/** Maximum bytes kept of a body's end. */
const maxOutputBytes = 10_000;

/** Definition of a heartbeat that a ping creates. */
const defaultDefinition = { period: 24 * 60 * 60 };

interface PingParts extends Pick<Parts, 'authorize' | 'clock'> {
  store: HeartbeatStore;
  keeper: HeartbeatKeeper;
  count(type: Ping['type']): void;
}

type PingRequest = FastifyRequest & {
  params: { address: string; signal?: string };
  /** Not validated on requests with a body. */
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

/** Creates the ping routes, which also serve healthchecks clients. GET, HEAD and POST have the same effect. */
export const createPingRoutes = (parts: PingParts): Route[] => {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const { params, query } = request as PingRequest;
    const sent = readPing(params.signal, query.rid, request.body);
    const { known, isNew } = await findHeartbeat(parts, request as PingRequest);
    await parts.store.append({ ...sent, name: known.name, since: known.since, at: parts.clock().getTime() });
    parts.count(sent.type);
    reply.code(isNew ? 201 : 200).type('text/plain; charset=utf-8');
    return 'OK';
  };
  const common = { ...openFor('heartbeats:ping'), staysOpen: true, handler } as const;
  const end = { ...common, path: '/ping/:address', summary: 'Report that the job has succeeded' } as const;
  const withBody = {
    // A ping counts whatever its body.
    body: 'end',
    validatorCompiler: () => () => true,
  } as const;
  const signal = {
    ...common,
    path: '/ping/:address/:signal',
    summary: 'Report the start, failure or exit code of the job, or a text',
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

const readPing = (signal: string | undefined, rid: unknown, body: unknown): Ping => {
  if (rid !== undefined && !(typeof rid === 'string' && isUuid(rid)))
    throw new HttpError('invalid', 'rid must be a UUID');
  const output = Buffer.isBuffer(body) ? toOutput(body) : '';
  return {
    ...readSignal(signal),
    ...(rid !== undefined && { rid: rid.toLowerCase() }),
    ...(output !== '' && { output }),
  };
};

const readSignal = (signal: string | undefined): Ping => {
  if (signal === undefined) return { type: 'success' };
  if (signal === 'start' || signal === 'log') return { type: signal };
  if (signal === 'fail') return { type: 'failure' };
  // Windows exit codes are signed or unsigned 32-bit numbers, such as -1073741510 or 3221225786.
  const exitCode = /^-?\d{1,10}$/.test(signal) ? Number(signal) + 0 : Number.NaN;
  if (exitCode >= -(2 ** 31) && exitCode < 2 ** 32) return { type: exitCode === 0 ? 'success' : 'failure', exitCode };
  throw new HttpError('invalid', 'The address must be followed by start, fail, log or an exit code, a 32-bit integer');
};

/** Converts the end of any body to text without control characters. */
const toOutput = (body: Buffer): string => {
  const end = body.subarray(-maxOutputBytes);
  // Start at a whole character.
  const start =
    body.length > maxOutputBytes
      ? Math.max(
          0,
          end.subarray(0, 4).findIndex((byte) => byte >> 6 !== 0b10),
        )
      : 0;
  return stripVTControlCharacters(end.subarray(start).toString())
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\t\n]/gu, '')
    .trimEnd();
};

/** Finds or creates a ping's heartbeat. Throws an HttpError if the right is missing. */
const findHeartbeat = async (
  { keeper, store, authorize }: PingParts,
  request: PingRequest,
): Promise<{ known: KnownHeartbeat; isNew: boolean }> => {
  const { address } = request.params;
  if (isUuid(address)) {
    const known = keeper.findByAddress(address);
    if (known) return { known, isNew: false };
    assertKnown(store);
    throw new HttpError('not-found', 'There is no heartbeat at this address');
  }
  const refusal = authorize(request, needs('heartbeats:ping'));
  if (refusal) throw refusal;
  const known = keeper.find(address);
  if (known) return { known, isNew: false };
  assertKnown(store);
  if (request.query.create !== '1') {
    throw new HttpError('not-found', `There is no heartbeat ${address.slice(0, 100)}: add ?create=1 to create it`);
  }
  // Creating a heartbeat changes a setting, which the right to ping does not cover.
  const forbidden = authorize(request, needs('heartbeats:create'));
  if (forbidden) throw forbidden;
  return keeper.findOrCreate(address, defaultDefinition, callerOf(request));
};

/** Throws StoreUnavailable until heartbeats have been read, to make jobs repeat their pings. */
const assertKnown = (store: HeartbeatStore): void => {
  if (!store.isReady) throw new StoreUnavailable('Heartbeats cannot be read at the moment; try again in a second');
};
