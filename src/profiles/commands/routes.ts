import type { Access } from '../../auth/guard.ts';
import { sendRows } from '../../http/response/json-stream.ts';
import { ErrorBody } from '../../http/response/schema.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Audit } from './audit.ts';
import { createExecuteRoute } from './execute-route.ts';
import type { AuditedExecution } from './execution/audited-execution.ts';
import type { Runner } from './execution/runner.ts';
import { toExecution } from './execution-row.ts';
import { describeCommands } from './policy/command-schemas.ts';
import { CommandList, ExecutionList, ExecutionQuery } from './schema.ts';

interface RouteParts {
  execution: AuditedExecution;
  audit: Audit;
  runnerName: Runner['name'];
  /** Everybody may run commands, not only holders of a token with role Admin. */
  isOpen: boolean;
}

export const createRoutes = ({ execution, audit, runnerName, isOpen }: RouteParts): Route[] => [
  createExecuteRoute(execution, isOpen ? 'open' : 'admin'),
  listCommands(runnerName, isOpen ? 'open' : 'token'),
  listExecutions(audit),
];

const listCommands = (runner: Runner['name'], access: Access): Route => {
  const answer = { runner, commands: describeCommands() };
  return defineRoute({
    method: 'GET',
    path: '/api/commands',
    access,
    summary: 'List the allowed commands and their parameters',
    schema: { response: { 200: CommandList } },
    handler: async (_request, reply) => reply.send(answer),
  });
};

const listExecutions = (audit: Audit): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/executions',
    access: 'admin',
    summary: 'List the last commands that were run or refused, oldest first',
    schema: { querystring: ExecutionQuery, response: { 200: ExecutionList, 400: ErrorBody } },
    handler: async ({ query: { count } }, reply) => sendRows(reply, await audit.listLast(count), toExecution),
  });
