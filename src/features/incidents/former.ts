import type { FastifyBaseLogger } from 'fastify';
import { dayMs, MiB } from '../../lib/units.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { SearchResult } from '../../storage/journal/read/search.ts';
import type { FollowedLog, RecordLog } from '../../storage/record-log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ActionOn } from './action.ts';
import type { StateEntry } from './incident-state.ts';
import { lastNumberIn, type ProjectedIncidents } from './projected-incidents.ts';
import type { Rules } from './rules.ts';

/** Alerts of the last day are folded when there are incidents for the first time, this many at most. */
const mostOld = 1_000_000;

/** What people did at one time, after the alert with the seq `after` was folded. */
interface FormerActions {
  at: number;
  after: number;
  lastNumber: number;
  actions: ActionOn[];
  rules?: Rules;
}

/** The incidents of a version before 1.2: a state, and a log of actions beside that of alerts. */
export interface FormerIncidents {
  /** Resolves to the seq of the last actions in the state, undefined without one. `onDamage` gets each damage. */
  readState(restore: (entry: unknown) => void, onDamage: (damage: string) => void): Promise<number | undefined>;
  /** The actions after a seq, oldest first. */
  readActions(seq: number): AsyncIterable<readonly FormerActions[]>;
  /** Called when they are in a snapshot: they are not read any more. */
  noteRead(): Promise<void>;
}

/** In the small file that says that they were read. */
const readMark = Buffer.from('read\n');

/** The former incidents in the files of a data directory, which stay as they are. */
export const openFormerIncidents = (storage: Storage): FormerIncidents => {
  const mark = storage.file('incidents.read');
  const state = storage.snapshot('incidents');
  let isNoted = false;
  const wasRead = async (): Promise<boolean> => (await mark.read()) !== undefined;
  return {
    readState: async (restore, onDamage) => ((await wasRead()) ? undefined : state.read(restore, onDamage)),
    async *readActions(seq) {
      const isThere = state.size > 0 || (await storage.file('incidents.jsonl').read()) !== undefined;
      if (!isThere || (await wasRead())) return;
      const journal = await storage.log('incidents', { title: 'incident log', awaitsHold: true });
      try {
        for await (const records of journal.readAfter(seq)) yield records as unknown as FormerActions[];
      } finally {
        await journal.close();
      }
    },
    noteRead: async () => {
      if (isNoted) return;
      isNoted = true;
      const isThere = !(await wasRead()) && (await storage.file('incidents.state').read()) !== undefined;
      if (isThere) await mark.write(readMark).catch(() => undefined);
    },
  };
};

interface BeginningParts {
  events: Pick<FollowedLog, 'readAfter' | 'state'> & Pick<RecordLog, 'search'>;
  former: FormerIncidents;
  /** Empty; takes over the former incidents. */
  state: ProjectedIncidents;
  isClosed: () => boolean;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/** Resolves to the seq after which incidents are folded where there is no snapshot: after those of a former version, or one day ago. */
export const findBeginning = async (parts: BeginningParts): Promise<number> => {
  const { events, former, state, isClosed, clock, log } = parts;
  const known = await restoreFormer(former, state, log);
  const { lastSeq = 0 } = events.state();
  if (known !== undefined && known.alertSeq > lastSeq) {
    log.warn('incidents: the alert log was replaced; they go on at its end');
  }
  const actions: FormerActions[] = [];
  for await (const some of former.readActions(known?.actionSeq ?? 0)) actions.push(...some);
  if (!known) {
    for (const { lastNumber } of actions) state.all.noteLastNumber(lastNumber);
    return findYesterday(parts, clock().getTime());
  }
  let seq = Math.min(known.alertSeq, lastSeq);
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

interface FormerPlace {
  alertSeq: number;
  actionSeq: number;
}

/** Undefined if there is no former state, or it is damaged; then the incidents in it are lost, as in the version that wrote it. */
const restoreFormer = async (
  former: FormerIncidents,
  state: ProjectedIncidents,
  log: BeginningParts['log'],
): Promise<FormerPlace | undefined> => {
  const entries: (StateEntry & { alertSeq?: number })[] = [];
  const refuse = (damage: string): never => {
    throw new JournalError('damaged', damage);
  };
  try {
    const actionSeq = await former.readState((entry) => void entries.push(entry as StateEntry), refuse);
    const { alertSeq } = entries.find((entry) => entry.alertSeq !== undefined) ?? {};
    if (actionSeq === undefined || alertSeq === undefined) return undefined;
    // As snapshots have them.
    const changeOf = (entry: StateEntry): number => ('incident' in entry ? entry.incident.change : -1);
    for (const entry of entries.toSorted((a, b) => changeOf(a) - changeOf(b))) state.restore(entry);
    return { alertSeq, actionSeq };
  } catch (err) {
    log.error({ err }, 'incidents: the state of 1.1.0 cannot be read; the alerts of the last day are folded again');
    return undefined;
  }
};

/** Alerts up to the end of the log are from before there were incidents; those of the last day are folded nevertheless. */
const findYesterday = async ({ events, state, isClosed }: BeginningParts, now: number): Promise<number> => {
  const { lastSeq = 0 } = events.state();
  const since = now - dayMs;
  let start = lastSeq + 1;
  let before: number | undefined = lastSeq > 0 ? start : undefined;
  while (before !== undefined && lastSeq - start < mostOld) {
    assertOpen(isClosed);
    const note = ({ seq }: StoredRecord): boolean => {
      start = Math.min(start, seq);
      return false;
    };
    const { next }: SearchResult = await events.search({ before, since, test: note, limit: 1, maxBytes: 16 * MiB });
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
