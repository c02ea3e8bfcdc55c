import { alerts, type Kept } from './kept.ts';
import type { Moment } from './strace.ts';

/** Calls that `readCoverage` needs. */
export const coverageCalls = ['fdatasync', 'write', 'writev', 'sendto', 'sendmsg', 'ftruncate', 'close'];

const writes = new Set(['write', 'writev', 'sendto', 'sendmsg']);

export interface Coverage {
  /** Ids of acknowledged alerts, or strings that identify acknowledged changes to tasks. */
  answered: string[];
  /** Acknowledged records with a line that was not on disk when the response began. */
  uncovered: string[];
}

/**
 * Finds responses that a server sent too early. A line is on disk once an fdatasync that began after the complete line
 * was written has returned 0. Data written before a failed sync of the file never counts.
 */
export const readCoverage = (moments: readonly Moment[], { inAnswer, inLog }: Kept = alerts): Coverage => {
  const files = new Map<number, { written: Set<string>; syncing: string[] }>();
  const covered = new Set<string>();
  const coverage: Coverage = { answered: [], uncovered: [] };
  for (const { phase, call, fd, text, result } of moments) {
    const file = files.get(fd) ?? { written: new Set(), syncing: [] };
    files.set(fd, file);
    if (writes.has(call) && phase === 'begin') {
      const ids = findIds(inAnswer, text);
      coverage.answered.push(...ids);
      coverage.uncovered.push(...ids.filter((id) => !covered.has(id)));
    } else if (call === 'write' && isWhole(text, result)) {
      for (const id of findIds(inLog, text)) file.written.add(id);
    } else if (call === 'fdatasync' && phase === 'begin') {
      file.syncing = [...file.written];
    } else if (call === 'fdatasync' && result === 0) {
      for (const id of file.syncing) covered.add(id);
    } else if (call === 'close' || (phase === 'end' && !writes.has(call))) {
      files.delete(fd);
    }
  }
  return coverage;
};

/** True if all bytes were written. The length is the last argument of the call. */
const isWhole = (text: string, result: number | undefined): boolean =>
  new RegExp(`", ${result}(\\)| <unfinished)`).test(text);

const findIds = (pattern: RegExp, text: string): string[] => [...text.matchAll(pattern)].map(([, id = '']) => id);
