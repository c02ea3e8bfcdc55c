import type { Static } from 'typebox';
import Type from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { HttpError } from '../../http/errors.ts';
import { defineTransfer, RecordId } from '../../kit/feature.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { Listing } from '../../storage/journal/read/listing.ts';
import { type PortableRecord, SeenIds } from '../../storage/portable-store.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { Execution } from './schema.ts';

/** Client that sent a command. */
export type CommandCaller = Pick<Execution, 'requestId' | 'user' | 'role' | 'remoteAddress'>;

export type Audit = ReturnType<typeof createAudit>;

/**
 * Creates the audit. It records every command that was executed or refused. `onRecord` is called with each stored
 * record.
 */
export const createAudit = (journal: RecordLog, onRecord: (execution: Execution) => void = () => undefined) => ({
  /** Throws an HttpError (503) while records cannot be written. */
  assertWritable: async (): Promise<void> => {
    const { failure } = journal.state();
    if (failure) throw toUnavailable(failure.message);
    // A database reports its state only on request. Files report theirs through `state`.
    await journal.appendAll([]).catch(refuse);
  },
  /** Resolves once the record is on disk. Rejects with an HttpError (503) if the journal cannot store it. */
  record: async (execution: Execution): Promise<void> => {
    await journal.append({ ...execution }).catch(refuse);
    onRecord(execution);
  },
  /** Returns the last records, oldest first. */
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

/** Returns only the fields of an execution. Missing fields become null. */
export const toExecution = (record: Record<string, unknown>): object =>
  Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));

/** Stored record. Records of early versions lack some fields. */
const StoredExecution = Type.Object(
  { ...Type.Partial(Execution).properties, id: RecordId },
  { additionalProperties: false },
);

/** Exports and imports the audit in record order. */
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
      if (!seen.add(id)) throw new SettingsError(['executions.id was already used in an earlier line']);
      return { id, record };
    };
  },
});
