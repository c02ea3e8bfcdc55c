import type { FastifyReply, FastifyRequest } from 'fastify';
import { needs } from '../../auth/access.ts';
import { findPrincipal } from '../../auth/guard.ts';
import { ErrorBody, HttpError, toHttpError } from '../../http/errors.ts';
import { ownJson, sendJson, sendRows, whenReady } from '../../http/json.ts';
import { createClientSignal } from '../../http/overload.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { type Audit, type CommandCaller, toExecution } from './audit.ts';
import type { Executor } from './executor.ts';
import { describeCommands } from './policy.ts';
import { type BoundedResult, CommandFailure, type Runner } from './runner.ts';
import { CommandBody, CommandError, CommandList, CommandResult, ExecutionList, ExecutionQuery } from './schema.ts';

interface RouteParts {
  executor: Executor;
  audit: Audit;
  runnerName: Runner['name'];
}

export const createCommandRoutes = ({ executor, audit, runnerName }: RouteParts): Route[] => {
  const list = { runner: runnerName, commands: describeCommands() };
  return [
    defineRoute({
      method: 'POST',
      path: '/api/execute',
      ...needs('commands:run'),
      isSpecified: true,
      canBeOpen: true,
      // The policy must judge the command exactly as sent.
      textsAsSent: true,
      summary: 'Run an allowed diagnostic command',
      schema: {
        operationId: 'runCommand',
        body: CommandBody,
        response: { 200: CommandResult, 403: ErrorBody, 500: CommandError },
      },
      handler: async (request, reply) => {
        const { command: line } = request.body;
        try {
          const result = await executor.execute(line, toCaller(request), createClientSignal(reply));
          return sendResult(reply, line, result);
        } catch (error) {
          throw toCommandError(error, request);
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/commands',
      ...needs('settings:read'),
      canBeOpen: true,
      summary: 'List the allowed commands and their parameters',
      schema: { operationId: 'listCommands', response: { 200: CommandList } },
      handler: async (_request, reply) => reply.send(list),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/executions',
      ...needs('audit:read'),
      summary: 'List the last executed and refused commands, oldest first',
      schema: { operationId: 'listExecutions', querystring: ExecutionQuery, response: { 200: ExecutionList } },
      handler: ({ query: { count } }, reply) =>
        whenReady(reply, audit.listLast(count), (found) => sendRows(reply, found, toExecution)),
    }),
  ];
};

export const toCaller = (request: FastifyRequest): CommandCaller => {
  const principal = findPrincipal(request);
  return {
    requestId: request.id,
    user: principal?.name ?? null,
    role: principal?.role ?? null,
    remoteAddress: request.ip,
  };
};

/** Sends the result. Rows are already JSON, because the limits count their bytes. */
export const sendResult = (reply: FastifyReply, line: string, { rows, truncated }: BoundedResult): void => {
  const opening = `{"success":true,"command":${JSON.stringify(line)},"result":[`;
  const closing = truncated ? '],"truncated":true}' : ']}';
  sendJson(reply, { [ownJson]: opening + rows.join(',') + closing });
};

export const toCommandError = (error: unknown, request: FastifyRequest): HttpError => {
  const known = toHttpError(error);
  if (known) return known;
  const leading = { success: false };
  if (error instanceof CommandFailure) return new HttpError('failed', error.message, { leading });
  const members = { requestId: request.id };
  return new HttpError('failed', 'Internal server error', { leading, members, cause: error });
};
