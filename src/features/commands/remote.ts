import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { createClientSignal } from '../../http/overload.ts';
import type { HostSource } from '../../kit/offers.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { Audit } from './audit.ts';
import { createExecutor, type Executor } from './executor.ts';
import { sendResult, toCaller, toCommandError } from './routes.ts';
import { CommandFailure, type Runner } from './runner.ts';
import { CommandBody, CommandError, CommandResult } from './schema.ts';

/**
 * Maximum seconds for a command on a host. A command reaches its host only in the response to the host's next report.
 */
const remoteSeconds = 40;

const HostParams = Type.Object({ name: Type.String({ description: 'Name of a host.', examples: ['web-1'] }) });

interface RemoteParts {
  audit: Audit;
  clock: () => Date;
  hosts(): HostSource | undefined;
  count(result: string): void;
  /** Executors of commands that run on hosts. */
  running: Set<Executor>;
}

/** Creates the route that runs a command on a host. Both the hub and the host check and audit the command. */
export const createRemoteRoute = ({ hosts, running, ...parts }: RemoteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/hosts/:name/execute',
    ...needs('commands:run'),
    textsAsSent: true,
    summary:
      'Run an allowed diagnostic command on a host that accepts commands; the response takes about ten seconds longer',
    schema: {
      operationId: 'runHostCommand',
      params: HostParams,
      body: CommandBody,
      response: { 200: CommandResult, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, 500: CommandError },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const { command: line } = request.body;
      const source = hosts();
      if (!source) throw new HttpError('not-found', 'This server does not accept host reports');
      const caller = toCaller(request);
      const requestId = `${caller.requestId}@${name}`;
      const run: Runner['run'] = async (_command, signal) => {
        const result = await source.runCommand(name, { line, by: caller.user, requestId }, signal);
        if ('error' in result) throw new CommandFailure(result.error);
        return result;
      };
      const executor = createExecutor({ ...parts, runner: { name: 'native', run }, timeoutSeconds: remoteSeconds });
      running.add(executor);
      try {
        const result = await executor.execute(line, { ...caller, requestId }, createClientSignal(reply));
        return sendResult(reply, line, result);
      } catch (error) {
        throw toCommandError(error, request);
      } finally {
        running.delete(executor);
      }
    },
  });
