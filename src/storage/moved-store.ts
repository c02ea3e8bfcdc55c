import { existsSync, readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { State } from './changes.ts';
import { createFileNames, createSync } from './journal/files.ts';
import { openJournal } from './journal/journal.ts';
import type { StoredRecord } from './journal/line.ts';
import { openKeptChanges, readKeptChanges } from './kept-changes.ts';
import type { Awaitable } from './list.ts';
import type { Gate } from './postgres/batch.ts';
import type { Row, Statement } from './postgres/connection.ts';
import type { MovedRecord } from './record-log.ts';
import type { OnDamage } from './snapshot.ts';
import { createSnapshotFile } from './snapshot-file.ts';
import type { LogOptions } from './storage.ts';

/** A store of which `signalbox export` reads all changes, and into which `import` writes them. A log has a MovedRecord for each. */
export interface MovedStore<Change = unknown> {
  /** The name under which files keep it. */
  name: string;
  /** A new state, to which changes can be applied; a log of records has none. */
  createState?(): State<Change, unknown>;
  /** For a log in which records count by those before them. */
  createFilter?(saved: MovedState | undefined): RecordFilter<Change>;
  /** How a database keeps it. */
  table: MovedTable<Change>;
  /** The line of a change after so many lines of the store; undefined for a change that says nothing. */
  toLine(change: Change, before: number): readonly [key: string, value: unknown] | undefined;
}

/** The state that a log has led to, as of a seq. */
interface MovedState {
  seq: number;
  changes: readonly unknown[];
}

/** Chooses what moves of a log. */
export interface RecordFilter<Change> {
  /** What comes before the records: the log may have lost its beginning. */
  before: readonly Change[];
  /** Gets all records in their order, with their seq; returns undefined for one that counted for nothing. */
  filter(change: Change, seq: number): Change | undefined;
}

/** How a database keeps a store. */
export interface MovedTable<Change = unknown> {
  /** The name of its gate. */
  name: string;
  /** Queries whose rows are changes, in the order of lines; with a `seq` where the store has a filter. */
  queries: { text: string; toChange(row: Row): Change }[];
  /** Stores changes, which come in the order of lines, and updates the gate. */
  insert(changes: readonly Change[], gate: Gate): Statement[];
  /** What follows the last change. */
  finish?(): Statement[];
  /** A condition under which nothing was stored although ids were given; by default none. */
  isUnused?: string;
}

/** Stores that an import fills. Closed before everything is saved, they are as empty as before. */
export interface ImportTarget {
  /** The name of a store that has or had something already. */
  occupied: string | undefined;
  /** How many changes are best added together, unless they are long. */
  pieceCount: number;
  add(store: MovedStore, changes: readonly unknown[]): Promise<void>;
  /** Resolves when everything is stored. */
  save(): Promise<void>;
  /** Makes it last; resolves to whether that is certain. */
  commit(): Promise<boolean>;
  close(): Awaitable<void>;
}

/** A Set takes up to 2^24 values, so there is one for each last byte. */
const idSetCount = 256;

/** Finds UUIDs that come twice among many millions; each takes about 60 bytes. */
export class SeenIds {
  readonly #sets = Array.from({ length: idSetCount }, () => new Set<string>());

  /** Whether the id, in lower case, is new; it is not from then on. */
  add(id: string): boolean {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const set = this.#sets[bytes.at(-1) ?? 0] as Set<string>;
    const text = bytes.toString('latin1');
    if (set.has(text)) return false;
    set.add(text);
    return true;
  }
}

/** While this file exists, an import may have stored some stores and not the others. It names the logs that were empty before. */
const unfinishedImport = 'import.unfinished';

/** Whether an import into the directory was interrupted while it stored. */
export const hasUnfinishedImport = (directory: string): boolean => existsSync(join(directory, unfinishedImport));

export const hasFiles = (directory: string, { name }: MovedStore): boolean =>
  ['jsonl', 'state'].some((ending) => existsSync(join(directory, `${name}.${ending}`)));

/** Bytes of the files that the directory keeps of a store. */
export const sizeOfFiles = async (directory: string, { name }: MovedStore): Promise<number> => {
  const names = createFileNames(directory, name);
  const closed = (await names.listClosed()).map(names.closed);
  const paths = [names.active, ...closed, join(directory, `${name}.state`)];
  const sizes = paths.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
};

/**
 * The changes that the directory keeps of a store, some at a time, as far as they can be read: with a hole where an entry of
 * a list is missing. `onDamage` gets what was left out, also what is not whole. Throws a JournalError.
 */
export async function* readFiles(
  directory: string,
  { name, createState, createFilter }: MovedStore,
  { isWhole, onDamage }: { isWhole(change: unknown): boolean; onDamage: OnDamage },
): AsyncGenerator<readonly unknown[]> {
  if (createState) {
    const state = createState();
    const openLog = (options: LogOptions) => openJournal({ directory, name, ...options });
    await readKeptChanges({ directory, openJournal: openLog }, name, state, { isWhole, onDamage });
    yield* state.changes();
    return;
  }
  const journal = await openJournal({
    directory,
    name,
    expects: 'own',
    report: (event) => {
      if (event.type === 'damaged') onDamage(event.damage);
    },
  });
  const { before, filter } = createFilter?.(await readSaved(directory, name, onDamage)) ?? passAll;
  let leftOut = 0;
  try {
    yield before.filter(isWhole);
    for await (const stored of journal.readAfter(0)) {
      const moved = stored.map((one) => filter(toMoved(one), one.seq)).filter((one) => one !== undefined);
      const records = moved.filter(isWhole);
      leftOut += moved.length - records.length;
      yield records;
    }
  } finally {
    await journal.close();
  }
  if (leftOut > 0) onDamage(`${leftOut} ${leftOut === 1 ? 'record' : 'records'} of the log`);
}

/** The state that a log has led to up to a seq; undefined where none is saved. */
const readSaved = async (directory: string, name: string, onDamage: OnDamage): Promise<MovedState | undefined> => {
  const changes: unknown[] = [];
  const seq = await createSnapshotFile(join(directory, `${name}.state`)).read(
    (change) => changes.push(change),
    onDamage,
  );
  return seq === 0 ? undefined : { seq: seq ?? 0, changes };
};

export const passAll: RecordFilter<unknown> = { before: [], filter: (change) => change };

const toMoved = ({ id, seq: _seq, crc: _crc, part: _part, ...record }: StoredRecord): MovedRecord => ({ id, record });

/**
 * Opens the files of stores in the directory for an import, and removes what an interrupted one has stored. Records are
 * written as they come, states at the end. Throws a JournalError, `locked` for files that are in use.
 */
export const openEmptyFiles = async (directory: string, stores: readonly MovedStore[]): Promise<ImportTarget> => {
  const marker = createMarker(directory);
  const opened = new Map<MovedStore, OpenedFiles>();
  let progress: 'none' | 'begun' | 'saved' = 'none';
  const begin = async (): Promise<void> => {
    if (progress !== 'none') return;
    progress = 'begun';
    await marker.write(stores.filter(({ createState }) => !createState).map(({ name }) => name));
  };
  const close = async (): Promise<void> => {
    for (const files of opened.values()) await files.close();
    if (progress !== 'begun') return;
    for (const files of opened.values()) await files.remove();
    await marker.remove();
  };
  try {
    const unfinished = marker.read();
    for (const store of stores) {
      const { name, createState } = store;
      // It may have stored any state, but only logs that it has found empty.
      const files = createState
        ? openState(directory, store, createState(), unfinished !== undefined)
        : openLog(directory, name, unfinished?.includes(name) === true);
      opened.set(store, await files);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    occupied: stores.find((store) => !opened.get(store)?.isEmpty)?.name,
    // A log writes and syncs them together.
    pieceCount: 5000,
    add: async (store, changes) => {
      if (!store.createState) await begin();
      await opened.get(store)?.add(changes);
    },
    save: async () => {
      await begin();
      for (const files of opened.values()) await files.save();
      progress = 'saved';
    },
    commit: async () => {
      await marker.remove();
      return true;
    },
    close,
  };
};

const createMarker = (directory: string) => {
  const path = join(directory, unfinishedImport);
  const { directory: syncDirectory } = createSync(true);
  return {
    /** The logs that it names; undefined if there is none. */
    read: (): string[] | undefined => (existsSync(path) ? readFileSync(path, 'utf8').split('\n') : undefined),
    write: async (logs: readonly string[]): Promise<void> => {
      await writeFile(path, logs.join('\n'), { mode: 0o600, flush: true });
      await syncDirectory(directory);
    },
    remove: async (): Promise<void> => {
      // It must not come back after a power cut, when there are later changes; nor what was removed before it.
      await syncDirectory(directory);
      await rm(path, { force: true });
      await syncDirectory(directory);
    },
  };
};

/** One store while an import fills it. */
interface OpenedFiles {
  isEmpty: boolean;
  add(changes: readonly unknown[]): Promise<void>;
  save(): Awaitable<void>;
  close(): Awaitable<void>;
  /** Deletes what was stored, once it is closed. */
  remove(): Promise<void>;
}

/** With `isUnfinished`, what an interrupted import has stored is removed first; with the lock, it is nobody else's. */
const openState = async (
  directory: string,
  { name, toLine }: MovedStore,
  state: State<unknown, unknown>,
  isUnfinished: boolean,
): Promise<OpenedFiles> => {
  const remove = (): Promise<void> => rm(join(directory, `${name}.state`), { force: true });
  const openStateLog = async (options: LogOptions) => {
    const journal = await openJournal({ directory, name, ...options });
    if (isUnfinished) await remove();
    return journal;
  };
  const ignore = (): void => undefined;
  const surroundings = { directory, openJournal: openStateLog, report: ignore };
  const changes = await openKeptChanges(surroundings, name, state, ignore);
  let isEmpty = true;
  for (const some of state.changes()) isEmpty &&= some.every((change) => toLine(change, 0) === undefined);
  return {
    isEmpty,
    add: async (added) => {
      for (const change of added) state.apply(change);
    },
    save: () => changes.save(),
    close: () => changes.close(),
    remove,
  };
};

/** The same for a log of records. */
const openLog = async (directory: string, name: string, isUnfinished: boolean): Promise<OpenedFiles> => {
  const remove = async (): Promise<void> => {
    for (const path of await createFileNames(directory, name).listAll()) await rm(path, { force: true });
  };
  let journal = await openJournal({ directory, name });
  if (isUnfinished) {
    await journal.close();
    await remove();
    journal = await openJournal({ directory, name });
  }
  const { count, damaged, close } = await journal.listLast(1);
  await close();
  return {
    isEmpty: journal.state().lastSeq === 0 && count + damaged === 0 && !existsSync(join(directory, `${name}.state`)),
    add: async (records) => {
      await Promise.all((records as readonly MovedRecord[]).map(({ id, record }) => journal.append(record, id)));
    },
    save: () => undefined,
    close: () => journal.close(),
    remove,
  };
};
