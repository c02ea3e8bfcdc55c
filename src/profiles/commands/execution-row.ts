import { Execution } from './schema.ts';

const fields = Object.keys(Execution.properties);

/** An execution in a record of the log: exactly its fields, whatever else the line holds or lacks. */
export const toExecution = (record: Record<string, unknown>): object =>
  Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));
