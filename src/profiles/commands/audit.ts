import { HttpError } from '../../http/response/errors.ts';
import type { JournalError } from '../../storage/journal/errors.ts';
import type { Journal } from '../../storage/journal/journal.ts';
import type { Listing } from '../../storage/journal/read/listing.ts';
import type { Execution } from './schema.ts';

/** Who asked for a command, and where from. */
export type Caller = Pick<Execution, 'requestId' | 'user' | 'role' | 'remoteAddress'>;

export interface Audit {
  /** Throws an HttpError (503) while lines cannot be written. */
  assertWritable(): void;
  /** Resolves when the line is on disk; rejects with an HttpError (503) where that fails. */
  record(execution: Execution): Promise<void>;
  /** The last lines, oldest first. */
  listLast(count: number): Promise<Listing>;
}

/** The record of every command that was run or refused, over a durable log. */
export const createAudit = (journal: Journal): Audit => ({
  assertWritable: () => {
    const { failure } = journal.state();
    if (failure) throw toUnavailable(failure.message);
  },
  record: async (execution) => {
    await journal.append({ ...execution }).catch(({ message }: JournalError) => {
      throw toUnavailable(message);
    });
  },
  listLast: (count) => journal.listLast(count),
});

const toUnavailable = (reason: string): HttpError =>
  new HttpError('unavailable', `No command is run while the audit cannot be written: ${reason}`, {
    headers: { 'Retry-After': '1' },
  });
