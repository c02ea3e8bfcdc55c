import { readForward, type StoredRecord } from './forward.ts';
import { type Log, openFilesForward } from './log.ts';

/** The records after `seq`, oldest first, some at a time, up to the end of the log as it is now. */
export async function* readAfter(log: Log, seq: number, maxLineBytes: number): AsyncGenerator<StoredRecord[]> {
  for await (const { read, end } of openFilesForward(log)) {
    for await (const { records } of readForward(read, 0, end, maxLineBytes)) {
      const after = records.filter((record) => record.seq > seq);
      if (after.length > 0) yield after;
    }
  }
}
