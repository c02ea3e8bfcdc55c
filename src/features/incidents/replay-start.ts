import type { FastifyBaseLogger } from 'fastify';
import { dayMs, MiB } from '../../lib/units.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { SearchResult } from '../../storage/journal/read/search.ts';
import type { FollowedLog, RecordLog } from '../../storage/record-log.ts';
import { lastNumberIn, type ProjectedIncidents } from './projected-incidents.ts';
import type { FilesOf11, OldActions } from './upgrade.ts';

/** Maximum number of alerts folded by the first version with incidents. */
const maxOld = 1_000_000;

interface ReplayParts {
  events: Pick<FollowedLog, 'readAfter' | 'state'> & Pick<RecordLog, 'search'>;
  oldFiles: FilesOf11;
  /** Empty state that will receive the incidents of version 1.1. */
  state: ProjectedIncidents;
  isClosed: () => boolean;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/**
 * Resolves to the seq after which folding starts without a snapshot: after the incidents of version 1.1, or before the
 * alerts of the last day.
 */
export const findReplayStart = async (parts: ReplayParts): Promise<number> => {
  const { events, oldFiles, state, log } = parts;
  const known = await oldFiles.restoreState(state, (err) =>
    log.error(
      { err },
      'incidents: the state of version 1.1.0 cannot be read; the alerts of the last day are processed again',
    ),
  );
  const actions = await oldFiles.readActions(known?.actionSeq ?? 0);
  if (!known) {
    for (const { lastNumber } of actions) state.all.noteLastNumber(lastNumber);
    return findYesterday(parts);
  }
  const { lastSeq = 0 } = events.state();
  if (known.alertSeq > lastSeq)
    log.warn('incidents: the alert log was replaced; incidents continue from the end of the new log');
  return foldOldActions(parts, actions, Math.min(known.alertSeq, lastSeq));
};

/** Folds the alerts after a seq, interleaved with the actions of version 1.1. Resolves to the seq of the last alert. */
const foldOldActions = async (
  { events, state, isClosed }: ReplayParts,
  actions: OldActions[],
  start: number,
): Promise<number> => {
  let seq = start;
  const applyBefore = (next: number): void => {
    for (let first = actions[0]; first && first.after < next; first = actions[0]) {
      actions.shift();
      const { at, rules } = first;
      state.apply({ at });
      for (const action of first.actions) state.apply({ at, action });
      if (rules) state.apply({ at, rules });
    }
  };
  for await (const records of events.readAfter(seq)) {
    assertOpen(isClosed);
    for (const record of records) {
      applyBefore(record.seq);
      state.fold(record);
      seq = record.seq;
    }
  }
  applyBefore(Number.POSITIVE_INFINITY);
  return seq;
};

/**
 * Resolves to the seq before the alerts of the last day. Marks all stored alerts as old, so that nobody is notified of
 * them.
 */
const findYesterday = async ({ events, state, isClosed, clock }: ReplayParts): Promise<number> => {
  const { lastSeq = 0 } = events.state();
  const since = clock().getTime() - dayMs;
  let start = lastSeq + 1;
  let before: number | undefined = lastSeq > 0 ? start : undefined;
  const test = ({ seq }: StoredRecord): boolean => {
    start = Math.min(start, seq);
    return false;
  };
  while (before !== undefined && lastSeq - start < maxOld) {
    assertOpen(isClosed);
    const { next }: SearchResult = await events.search({ before, since, test, limit: 1, maxBytes: 16 * MiB });
    before = next;
  }
  for await (const records of events.readAfter(start - 1)) {
    for (const record of records) state.all.noteLastNumber(lastNumberIn(record));
  }
  state.all.counters.oldUntil = lastSeq;
  return start - 1;
};

const assertOpen = (isClosed: () => boolean): void => {
  if (isClosed()) throw new JournalError('closed', 'the server is stopping');
};
