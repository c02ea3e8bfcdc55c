import { JournalError } from '../errors.ts';
import { readIdTime } from '../format/id.ts';
import { overlaps } from '../index/block.ts';
import type { LogIndex } from '../index/log-index.ts';
import type { Summary } from '../index/summary.ts';
import { splitBackwards } from './backwards.ts';
import { type StoredRecord, toStored } from './forward.ts';

/**
 * The record with the id, undefined if there is none. Only blocks with ids of its time are read; of an id without a time,
 * blocks with such ids.
 * @throws JournalError `window-too-large` when more than `maxBytes` would have to be read
 */
export const findRecord = async (index: LogIndex, id: string, maxBytes: number): Promise<StoredRecord | undefined> => {
  const time = readIdTime(id);
  const canHold = ({ idTimes, hasOldIds }: Pick<Summary, 'idTimes' | 'hasOldIds'>): boolean =>
    time === undefined ? hasOldIds : overlaps(idTimes, time, time + 1);
  const text = Buffer.from(`"id":${JSON.stringify(id)}`);
  const budget = { left: maxBytes };
  for await (const { read, readBlocks } of index.openFiles(canHold, budget)) {
    for await (const { block, end } of readBlocks(canHold)) {
      if (budget.left <= 0) throw new JournalError('window-too-large', `a record is searched for in ${maxBytes} bytes`);
      if (!canHold(block)) continue;
      const bytes = Buffer.allocUnsafe(end - block.start);
      const length = await read(bytes, block.start);
      const record = bytes.subarray(0, length).includes(text) ? findIn(bytes.subarray(0, length), id) : undefined;
      if (record) return record;
    }
  }
  return undefined;
};

const findIn = (bytes: Buffer, id: string): StoredRecord | undefined => {
  for (const line of splitBackwards(bytes)) {
    const record = toStored(line);
    if (record?.id === id) return record;
  }
  return undefined;
};
