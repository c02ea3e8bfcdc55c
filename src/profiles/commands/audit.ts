import type { Static } from 'typebox';
import Type from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { StoreUnavailable } from '../../expected-errors.ts';
import { HttpError } from '../../http/errors.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { Listing } from '../../storage/journal/read/listing.ts';
import { SeenIds } from '../../storage/moved-store.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import type { MovedRecord, RecordLog } from '../../storage/record-log.ts';
import { defineTransfer, RecordId } from '../feature.ts';
import { Execution } from './schema.ts';

/** The client that sent a command. */
export type Caller = Pick<Execution, 'requestId' | 'user' | 'role' | 'remoteAddress'>;

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
export const auditTransfer = defineTransfer<MovedRecord>({
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
