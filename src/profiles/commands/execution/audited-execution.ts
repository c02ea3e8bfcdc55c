import { HttpError } from '../../../http/errors.ts';
import type { Audit, Caller } from '../audit.ts';
import { cut, Refusal } from '../language/refusal.ts';
import { checkCommand } from '../policy/check.ts';
import type { Execution } from '../schema.ts';
import type { BoundedResult } from './bounds.ts';
import type { Executor } from './executor.ts';
import { CommandFailure } from './runner.ts';

interface AuditedParts {
  executor: Executor;
  audit: Audit;
  clock: () => Date;
  /** Called with the result of each command: `ok`, `refused`, or how it failed. */
  count(result: string): void;
}

export type AuditedExecution = ReturnType<typeof createAuditedExecution>;

/** Runs commands only while the audit can be written; each outcome is on disk before the response. */
export const createAuditedExecution = (parts: AuditedParts) => {
  const running = new Set<Promise<unknown>>();
  return {
    /** Checks a command line and runs it. Rejects with an HttpError (403, 503), a CommandFailure, or any error of a bug. */
    execute: (line: string, caller: Caller, client: AbortSignal): Promise<BoundedResult> => {
      const result = execute(parts, line, caller, client).finally(() => running.delete(result));
      running.add(result);
      return result;
    },
    /** Ends all commands; resolves when they are recorded. */
    close: async (): Promise<void> => {
      await parts.executor.close();
      await Promise.allSettled(running);
    },
  };
};

const execute = async (
  { executor, audit, clock, count }: AuditedParts,
  line: string,
  caller: Caller,
  client: AbortSignal,
): Promise<BoundedResult> => {
  await audit.assertWritable();
  const started = performance.now();
  const asked = { time: clock().toISOString(), ...caller };
  const command = checkCommand(line);
  if (command instanceof Refusal) {
    const firstWord = cut(line.trim().split(/\s/, 1).join());
    count('refused');
    await audit.record({ ...asked, command: firstWord, ...refused, reason: command.reason });
    throw new HttpError('forbidden', command.reason);
  }
  const { name, parameters } = command;
  const outcome = await executor.execute(command, client).catch((error: unknown) => ({ error }));
  const durationMs = Math.round(performance.now() - started);
  const end = toEnd(outcome);
  count(end.exit ?? end.decision);
  await audit.record({ ...asked, command: name, ...end, parameters, durationMs });
  if ('error' in outcome) throw outcome.error;
  return outcome;
};

/** The fields of an execution that depend on its outcome; null if not applicable. */
type End = Omit<Execution, keyof Caller | 'time' | 'command'>;

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
  if (error instanceof HttpError) return { ...refused, reason: error.message };
  const { message, exit } = error instanceof CommandFailure ? error : new CommandFailure('Internal server error');
  return { ...refused, decision: 'allowed', reason: message, exit };
};
