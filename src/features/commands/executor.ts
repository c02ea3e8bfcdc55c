import type { Static } from 'typebox';
import Type from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { HttpError } from '../../http/errors.ts';
import { createQueue } from '../../http/overload.ts';
import { defineTransfer, RecordId } from '../../kit/feature.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { Listing } from '../../storage/journal/read/listing.ts';
import { type PortableRecord, SeenIds } from '../../storage/portable-store.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { Refusal, shortenWord } from './language.ts';
import { checkCommand, type ParsedCommand } from './policy.ts';
import { type BoundedResult, CommandFailure, type Runner, toBoundedResult } from './runner.ts';
import { Execution } from './schema.ts';

interface ExecutorParts {
  runner: Runner;
  /** For each command, without its time in the queue. */
  timeoutSeconds: number;
  audit: Audit;
  clock: () => Date;
  /** Called with the result of each command: `ok`, `refused`, or how it failed. */
  count(result: string): void;
}

export type Executor = ReturnType<typeof createExecutor>;

/** Runs a few commands at a time, while the audit can be written; each outcome is on disk before the response. */
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
    /** Checks a command line and runs it. Rejects with an HttpError (403, 503), a CommandFailure, or any error of a bug. */
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
    /** Ends all running and waiting commands; resolves when they have ended and are recorded. */
    close: async (): Promise<void> => {
      const results = [...executions.values()];
      for (const controller of executions.keys()) {
        controller.abort(new CommandFailure('The server is stopping', 'abandoned'));
      }
      await Promise.allSettled(results);
    },
  };
};

/** The fields of an execution that depend on its outcome; null if not applicable. */
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
  if (error instanceof HttpError) return { ...refused, reason: error.message };
  const { message, exit } = error instanceof CommandFailure ? error : new CommandFailure('Internal server error');
  return { ...refused, decision: 'allowed', reason: message, exit };
};

/** The client that sent a command. */
export type CommandCaller = Pick<Execution, 'requestId' | 'user' | 'role' | 'remoteAddress'>;

export type Audit = ReturnType<typeof createAudit>;

/** Records every command that was run or refused in a journal; `onRecord` is called for each that is stored. */
export const createAudit = (journal: RecordLog, onRecord: (execution: Execution) => void = () => undefined) => ({
  /** Throws an HttpError (503) while records cannot be written. */
  assertWritable: async (): Promise<void> => {
    const { failure } = journal.state();
    if (failure) throw toUnavailable(failure.message);
    // Shows whether a database takes records; files say so before.
    await journal.appendAll([]).catch(refuse);
  },
  /** Resolves when the record is on disk; rejects with an HttpError (503) if the journal cannot store it. */
  record: async (execution: Execution): Promise<void> => {
    await journal.append({ ...execution }).catch(refuse);
    onRecord(execution);
  },
  /** The last records, oldest first. */
  listLast: (count: number): Promise<Listing> => journal.listLast(count),
});

const refuse = (error: unknown): never => {
  throw error instanceof JournalError || error instanceof StoreUnavailable ? toUnavailable(error.message) : error;
};

const toUnavailable = (reason: string): HttpError =>
  new HttpError('unavailable', `Commands cannot run while the audit cannot be written: ${reason}`, {
    headers: { 'retry-after': '1' },
  });

const fields = Object.keys(Execution.properties);

/** Exactly the fields of an execution; null if the record lacks one. */
export const toExecution = (record: Record<string, unknown>): object =>
  Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));

/** Records of early versions lack some fields. */
const StoredExecution = Type.Object(
  { ...Type.Partial(Execution).properties, id: RecordId },
  { additionalProperties: false },
);

/** The audit, in its order. */
export const auditTransfer = defineTransfer<PortableRecord>({
  name: 'commands',
  lines: { executions: StoredExecution },
  table: createRecordTable('audit', {
    timeOf: ({ time }) => (typeof time === 'string' ? Date.parse(time) : undefined),
  }),
  toLine: ({ id, record }) => ['executions', { ...record, id }],
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { id, ...record } = value as Static<typeof StoredExecution>;
      if (!seen.add(id)) throw new SettingsError(['executions.id is that of an execution before it']);
      return { id, record };
    };
  },
});
