import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Headers } from '../response/common-headers.ts';
import { type HttpError, sendError } from '../response/errors.ts';
import type { RequestGuard } from './guard.ts';

interface Entrance {
  /** Headers of every answer. */
  headers: Headers;
  /** Finds what makes a request doubtful as HTTP; it comes first, and ends the connection. */
  framing: RequestGuard;
  /** Whether every OPTIONS request is answered here. */
  cors: boolean;
  /** What else is looked at, in this order. */
  guards: readonly RequestGuard[];
}

/**
 * What every request passes first, also one whose path cannot be decoded. `enter` sets the headers that each answer
 * has, and returns false when it has answered itself. `isWelcome` says beforehand whether it would let a GET or POST in.
 */
export const createEntrance = ({ headers, framing, cors, guards }: Entrance) => {
  const ended = new Set<Socket>();
  // In lower case, as Fastify keeps them.
  const pairs = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  // RFC 9112, 9.6: what came behind the last answer of a connection is not even looked at.
  const isTooLate = ({ socket }: IncomingMessage): boolean => ended.size > 0 && ended.has(socket);
  const isWelcome = (raw: IncomingMessage): boolean =>
    !isTooLate(raw) && framing(raw) === undefined && findRefusal(guards, raw) === undefined;
  const enter = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { raw } = request;
    for (const [name, value] of pairs) reply.header(name, value);
    if (isTooLate(raw)) {
      reply.hijack();
      return false;
    }
    const fault = framing(raw);
    if (fault) {
      ended.add(raw.socket);
      raw.socket.once('close', () => ended.delete(raw.socket));
    } else if (cors && raw.method === 'OPTIONS') {
      reply.header('Access-Control-Allow-Headers', 'Authorization, Content-Type').code(204).send();
      return false;
    }
    const refusal = fault ?? findRefusal(guards, raw);
    if (refusal) sendError(refusal, request, reply);
    return refusal === undefined;
  };
  return { enter, isWelcome };
};

const findRefusal = (guards: readonly RequestGuard[], raw: IncomingMessage): HttpError | undefined => {
  for (const guard of guards) {
    const refusal = guard(raw);
    if (refusal) return refusal;
  }
  return undefined;
};
