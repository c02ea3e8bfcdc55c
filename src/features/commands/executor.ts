import { HttpError, toHttpError } from '../../http/errors.ts';
import { createQueue } from '../../http/overload.ts';
import type { Audit, CommandCaller } from './audit.ts';
import { Refusal, shortenWord } from './language.ts';
import { checkCommand, type ParsedCommand } from './policy.ts';
import { type BoundedResult, CommandFailure, type Runner, toBoundedResult } from './runner.ts';
import type { Execution } from './schema.ts';

interface ExecutorParts {
  runner: Runner;
  /** Seconds that each command may take. Time in the queue does not count. */
  timeoutSeconds: number;
  audit: Audit;
  clock: () => Date;
  /** Called with the result of each command: `ok`, `refused`, or the kind of failure. */
  count(result: string): void;
}

export type Executor = ReturnType<typeof createExecutor>;

/**
 * Creates the executor. It runs a few commands at a time, and only while the audit can be written. Each outcome is on
 * disk before the response.
 */
export const createExecutor = ({ runner, timeoutSeconds, audit, clock, count }: ExecutorParts) => {
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
  const execute = async (line: string, caller: CommandCaller, controller: AbortController): Promise<BoundedResult> => {
    await audit.assertWritable();
    const started = performance.now();
    const asked = { time: clock().toISOString(), ...caller };
    const command = checkCommand(line);
    if (command instanceof Refusal) {
      const firstWord = shortenWord(line.trim().split(/\s/, 1).join());
      count('refused');
      await audit.record({ ...asked, command: firstWord, ...refused, reason: command.message });
      throw new HttpError('forbidden', command.message);
    }
    const { name, parameters } = command;
    const run = queue.run(() => runInTime(command, controller), controller.signal);
    const outcome = await run.catch((error: unknown) => ({ error }));
    const durationMs = Math.round(performance.now() - started);
    const end = toEnd(outcome);
    count(end.exit ?? end.decision);
    await audit.record({ ...asked, command: name, ...end, parameters, durationMs });
    if ('error' in outcome) throw outcome.error;
    return outcome;
  };
  return {
    /**
     * Checks a command line and runs it. Rejects with an HttpError (403, 503), a CommandFailure, or an unexpected
     * error.
     */
    execute: async (line: string, caller: CommandCaller, client: AbortSignal): Promise<BoundedResult> => {
      const controller = new AbortController();
      const abandon = (): void => controller.abort(new CommandFailure('The client has disconnected', 'abandoned'));
      client.addEventListener('abort', abandon, { once: true });
      if (client.aborted) abandon();
      const result = execute(line, caller, controller);
      executions.set(controller, result);
      try {
        return await result;
      } finally {
        executions.delete(controller);
        client.removeEventListener('abort', abandon);
      }
    },
    /** Stops all running and waiting commands. Resolves once they have ended and been recorded. */
    close: async (): Promise<void> => {
      const results = [...executions.values()];
      for (const controller of executions.keys()) {
        controller.abort(new CommandFailure('The server is stopping', 'abandoned'));
      }
      await Promise.allSettled(results);
    },
  };
};

/** Fields of an execution that depend on its outcome. Fields that do not apply are null. */
type End = Omit<Execution, keyof CommandCaller | 'time' | 'command'>;

const refused: End = {
  parameters: null,
  decision: 'refused',
  reason: null,
  exit: null,
  durationMs: null,
  rows: null,
  truncated: null,
};

const toEnd = (outcome: BoundedResult | { error: unknown }): End => {
  if (!('error' in outcome)) {
    const { rows, truncated } = outcome;
    return { ...refused, decision: 'allowed', exit: 'ok', rows: rows.length, truncated };
  }
  const { error } = outcome;
  const known = toHttpError(error);
  if (known) return { ...refused, reason: known.message };
  const { message, exit } = error instanceof CommandFailure ? error : new CommandFailure('Internal server error');
  return { ...refused, decision: 'allowed', reason: message, exit };
};
