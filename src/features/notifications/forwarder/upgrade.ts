import type { Storage } from '../../../storage/storage.ts';
import { DeliveryProgress, type GivenUp, type OpenAlert } from './progress.ts';

/** Journal line in which version 1.0 stored the progress. */
interface FormerLine extends Pick<DeliveryProgress, 'start' | 'dropped' | 'forgotten'> {
  /** True if `parked` lists all given-up alerts. Otherwise `parked` lists only new given-up alerts. */
  checkpoint?: true;
  cursor: number;
  /** Alerts after the cursor that are settled. */
  settled: number[];
  failing: [seq: number, tried: OpenAlert][];
  parked: [seq: number, parked: GivenUp][];
  unparked: number[];
}

/** Reads the progress from the journal `outbox-NAME`. Does not modify the journal. Undefined if there is none. */
export const readFormerProgress = async (
  name: string,
  storage: Pick<Storage, 'log' | 'file'>,
): Promise<DeliveryProgress | undefined> => {
  if (!(await storage.file(`outbox-${name}.jsonl`).read())) return undefined;
  const journal = await storage.log(`outbox-${name}`, { title: `outbox of ${name}`, sync: false });
  let progress: DeliveryProgress | undefined;
  for await (const lines of journal.readAfter(0)) {
    for (const line of lines) {
      // Development builds wrote lines in other forms.
      if (line['cursor'] === undefined) continue;
      progress ??= new DeliveryProgress(0);
      applyLine(progress, line as unknown as FormerLine);
    }
  }
  await journal.close();
  return progress;
};

const applyLine = (progress: DeliveryProgress, line: FormerLine): void => {
  const { checkpoint, start, cursor, settled, failing, dropped, forgotten, parked, unparked } = line;
  Object.assign(progress, { start, dropped, forgotten });
  if (checkpoint) progress.parked.clear();
  // An alert that was given up, retried and given up again appears in both lists.
  for (const seq of unparked) progress.parked.delete(seq);
  for (const [seq, one] of parked) progress.addGivenUp(seq, one);
  const attempts = new Map(failing.map(([seq, tried]) => [seq, tried.attempts]));
  const done = new Set(settled);
  progress.open.clear();
  progress.position = [...done, ...attempts.keys()].reduce((last, seq) => Math.max(last, seq), cursor);
  for (let seq = cursor + 1; seq <= progress.position; seq += 1) {
    if (!done.has(seq)) progress.open.set(seq, { attempts: attempts.get(seq) ?? 0 });
  }
};
