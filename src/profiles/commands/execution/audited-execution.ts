import { HttpError } from '../../../http/response/errors.ts';
import type { Audit, Caller } from '../audit.ts';
import { cut, Refusal } from '../language/refusal.ts';
import { checkCommand } from '../policy/check.ts';
import type { ParsedCommand } from '../policy/policy.ts';
import type { Execution } from '../schema.ts';
import type { BoundedResult } from './bounds.ts';
import type { Executor } from './executor.ts';
import { CommandFailure } from './runner.ts';

interface AuditedParts {
  executor: Executor;
  audit: Audit;
  clock: () => Date;
}

export interface AuditedExecution {
  /** Checks a command line and runs it. Rejects with an HttpError (403, 503), a CommandFailure, or a bug's error. */
  execute(line: string, caller: Caller, client: AbortSignal): Promise<BoundedResult>;
  /** Ends all commands; resolves when they are recorded. */
  close(): Promise<void>;
}

/** Runs commands only while the audit can be written; each outcome is on disk before the response. */
export const createAuditedExecution = (parts: AuditedParts): AuditedExecution => {
  const running = new Set<Promise<unknown>>();
  return {
    execute: (line, caller, client) => {
      const result = execute(parts, line, caller, client).finally(() => running.delete(result));
      running.add(result);
      return result;
    },
    close: async () => {
      await parts.executor.close();
      await Promise.allSettled(running);
    },
  };
};

const execute = async (
  { executor, audit, clock }: AuditedParts,
  line: string,
  caller: Caller,
  client: AbortSignal,
): Promise<BoundedResult> => {
  audit.assertWritable();
  const started = performance.now();
  const asked = { time: clock().toISOString(), ...caller };
  const command = checkCommand(line);
  if (command instanceof Refusal) {
    await audit.record({ ...asked, command: firstWord(line), ...refused(command.reason) });
    throw new HttpError('forbidden', command.reason);
  }
  const outcome = await settle(executor.execute(command, client));
  const durationMs = Math.round(performance.now() - started);
  await audit.record({ ...asked, command: command.name, ...toEnd(command, outcome, durationMs) });
  if ('error' in outcome) throw outcome.error;
  return outcome;
};

type Outcome = BoundedResult | { error: unknown };
type End = Omit<Execution, keyof Caller | 'time' | 'command'>;

const settle = (result: Promise<BoundedResult>): Promise<Outcome> => result.catch((error) => ({ error }));

const firstWord = (line: string): string => cut(line.trim().split(/\s/, 1).join());

const refused = (reason: string): End => ({
  parameters: null,
  decision: 'refused',
  reason,
  exit: null,
  durationMs: null,
  rows: null,
  truncated: null,
});

const toEnd = ({ parameters }: ParsedCommand, outcome: Outcome, durationMs: number): End => {
  if (!('error' in outcome)) {
    const { rows, truncated } = outcome;
    const end = { reason: null, exit: 'ok', durationMs, rows: rows.length, truncated } as const;
    return { parameters, decision: 'allowed', ...end };
  }
  const { error } = outcome;
  if (error instanceof HttpError) return { ...refused(error.message), parameters, durationMs };
  const failed = error instanceof CommandFailure ? error : new CommandFailure('Internal server error');
  const end = { reason: failed.message, exit: failed.exit, durationMs, rows: null, truncated: null };
  return { parameters, decision: 'allowed', ...end };
};
