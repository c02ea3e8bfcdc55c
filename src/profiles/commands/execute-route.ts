import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Access, findPrincipal } from '../../auth/guard.ts';
import { HttpError } from '../../http/response/errors.ts';
import { ErrorBody } from '../../http/response/schema.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Caller } from './audit.ts';
import type { AuditedExecution } from './execution/audited-execution.ts';
import type { BoundedResult } from './execution/bounds.ts';
import { CommandFailure } from './execution/runner.ts';
import { CommandBody, CommandError, CommandResult } from './schema.ts';

export const createExecuteRoute = (execution: AuditedExecution, access: Access): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/execute',
    access,
    summary: 'Run one of the allowed diagnostic commands',
    schema: {
      body: CommandBody,
      response: { 200: CommandResult, 400: ErrorBody, 403: ErrorBody, 500: CommandError, 503: ErrorBody },
    },
    handler: async (request, reply) => {
      const { command: line } = request.body;
      try {
        const result = await execution.execute(line, toCaller(request), createClientSignal(reply));
        return sendResult(reply, line, result);
      } catch (error) {
        throw toHttpError(error) ?? unforeseen(error, reply);
      }
    },
  });

const toCaller = (request: FastifyRequest): Caller => {
  const principal = findPrincipal(request);
  return {
    requestId: request.id,
    user: principal?.name ?? null,
    role: principal?.role ?? null,
    remoteAddress: request.ip,
  };
};

/** The objects are JSON already, as their length had to be known. */
const sendResult = (reply: FastifyReply, line: string, { rows, truncated }: BoundedResult): void => {
  const opening = `{"success":true,"command":${JSON.stringify(line)},"result":[`;
  const closing = truncated ? '],"truncated":true}' : ']}';
  reply.type('application/json; charset=utf-8').send(opening + rows.join(',') + closing);
};

/** Aborted when the connection ends before the answer has been sent. */
const createClientSignal = (reply: FastifyReply): AbortSignal => {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
};

const toHttpError = (error: unknown): HttpError | undefined => {
  if (error instanceof HttpError) return error;
  if (error instanceof CommandFailure) {
    return new HttpError('failed', error.message, { leading: { success: false } });
  }
  return undefined;
};

const unforeseen = (error: unknown, { request }: FastifyReply): HttpError => {
  request.log.error({ err: error }, 'command failed');
  const extras = { leading: { success: false }, members: { requestId: request.id } };
  return new HttpError('failed', 'Internal server error', extras);
};
