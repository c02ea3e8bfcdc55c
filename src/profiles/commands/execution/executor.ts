import { createQueue } from '../../../http/overload.ts';
import type { ParsedCommand } from '../policy/policy.ts';
import { type BoundedResult, toBoundedResult } from './bounds.ts';
import { CommandFailure, type Runner } from './runner.ts';

export type Executor = ReturnType<typeof createExecutor>;

/** Runs a few commands at a time, each for at most `timeoutSeconds`; the time in the queue does not count. */
export const createExecutor = ({ runner, timeoutSeconds }: { runner: Runner; timeoutSeconds: number }) => {
  const refusal = 'Too many commands are running; try again later';
  const queue = createQueue({ running: 4, waiting: 16, refusal });
  const executions = new Map<AbortController, Promise<unknown>>();
  const runInTime = async (command: ParsedCommand, controller: AbortController): Promise<BoundedResult> => {
    const overdue = `The command did not finish within ${timeoutSeconds} s`;
    const end = (): void => controller.abort(new CommandFailure(overdue, 'timed-out'));
    const timer = setTimeout(end, timeoutSeconds * 1000);
    try {
      return toBoundedResult(await runner.run(command, controller.signal));
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    /** Rejects with an HttpError (503) if the queue is full, and with a CommandFailure if the command fails. */
    execute: async (command: ParsedCommand, client: AbortSignal): Promise<BoundedResult> => {
      const controller = new AbortController();
      const abandon = (): void => controller.abort(new CommandFailure('The client has disconnected', 'abandoned'));
      client.addEventListener('abort', abandon, { once: true });
      if (client.aborted) abandon();
      const result = queue.run(() => runInTime(command, controller), controller.signal);
      executions.set(controller, result);
      try {
        return await result;
      } finally {
        executions.delete(controller);
        client.removeEventListener('abort', abandon);
      }
    },
    /** Ends all running and waiting commands; resolves when they have ended. */
    close: async (): Promise<void> => {
      const results = [...executions.values()];
      for (const controller of executions.keys()) {
        controller.abort(new CommandFailure('The server is stopping', 'abandoned'));
      }
      await Promise.allSettled(results);
    },
  };
};
