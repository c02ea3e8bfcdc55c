import { randomUUID } from 'node:crypto';

let last = { time: Number.NaN, text: '' };

/** A new UUIDv7: it begins with the time in Unix milliseconds, the rest is random. */
export const createId = (time = Date.now()): string => {
  if (time !== last.time) {
    const hex = time.toString(16).padStart(12, '0');
    last = { time, text: `${hex.slice(0, 8)}-${hex.slice(8)}-7` };
  }
  return last.text + randomUUID().slice(15);
};

/** The time in an id; undefined where it has none, as those of versions before 0.2. */
export const readIdTime = (id: string): number | undefined =>
  id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
