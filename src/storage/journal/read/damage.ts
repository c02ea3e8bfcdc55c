import { basename } from 'node:path';
import type { FileNames } from '../files.ts';
import type { JournalSettings } from '../options.ts';
import type { LogFile } from './files.ts';
import type { LineObserver } from './lines.ts';

/** Creates the observers of a reader that begins after a seq: one per file, in log order. */
export type ObserveFrom = (seq: number) => (file: LogFile) => LineObserver;

/** Maximum number of damages reported. More would add no information. */
const maxReported = 100;

/** Creates a reporter of damage to a log. Each damage is reported once, with its file and place. */
export const createDamageReport = (
  { active }: Pick<FileNames, 'active'>,
  { report, expects }: Pick<JournalSettings, 'report' | 'expects'>,
) => {
  const reported = new Set<string>();
  const note = (damage: string): void => {
    if (reported.size >= maxReported || reported.has(damage)) return;
    reported.add(damage);
    report({ type: 'damaged', damage });
  };
  const nameOf = ({ identity }: LogFile): string => basename(typeof identity === 'string' ? identity : active);
  const noteLine = (file: LogFile, offset: number): void =>
    note(`the line at byte ${offset} of ${nameOf(file)} cannot be read`);
  const observeFrom: ObserveFrom = (seq) => {
    let last = expects === 'all' ? seq : undefined;
    let skipped = 0;
    return (file) => {
      // After a failed write, the seqs of the refused records are missing before the first record of the new file.
      if (expects !== 'all') last = undefined;
      return {
        noteSeq: (next) => {
          const missing = last === undefined ? 0 : next - last - 1;
          if (missing > skipped) note(`${describeMissing(next - missing, next - 1)} missing in ${nameOf(file)}`);
          last = Math.max(last ?? 0, next);
          skipped = 0;
        },
        noteSkipped: (offset, kind) => {
          if (kind === 'foreign' && expects === 'any') return;
          skipped += 1;
          noteLine(file, offset);
        },
      };
    };
  };
  return { noteLine, observeFrom };
};

const describeMissing = (first: number, last: number): string =>
  last > first ? `records ${first} to ${last} are` : `record ${first} is`;
