import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readFileChanges } from './file-changes.ts';
import { createFileNames } from './journal/files.ts';
import { openJournal } from './journal/journal.ts';
import type { StoredRecord } from './journal/line.ts';
import {
  type PortableFolder,
  type PortableProjection,
  type PortableRecord,
  type PortableStore,
  passAll,
} from './portable-store.ts';
import { Projection } from './projection.ts';
import type { OnDamage } from './snapshot.ts';
import { createSnapshotFile } from './snapshot-file.ts';

/** True if the directory contains files of the store. */
export const hasFiles = (directory: string, { name, openFolder }: PortableStore): boolean =>
  openFolder
    ? existsSync(join(directory, name))
    : ['jsonl', 'state'].some((ending) => existsSync(join(directory, `${name}.${ending}`)));

/** True if the directory has files of version 1.1.0 that the next startup will convert for the store. */
export const hasFormerFiles = (directory: string, store: PortableStore): boolean => {
  const file = store.projection?.former.file;
  return file !== undefined && existsSync(join(directory, `${file}.state`)) && !hasFiles(directory, store);
};

/** Resolves to the approximate number of bytes that an export of the store's files reads. */
export const readSizeOfFiles = async (directory: string, { name, openFolder }: PortableStore): Promise<number> => {
  if (openFolder) return readSizeOfFolder(openFolder(join(directory, name)));
  const names = createFileNames(directory, name);
  const closed = (await names.listClosed()).map(names.closed);
  const paths = [names.active, ...closed, join(directory, `${name}.state`)];
  const sizes = paths.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
};

const readSizeOfFolder = async (folder: PortableFolder): Promise<number> => {
  try {
    return await folder.readSize();
  } catch {
    // Reading the files reports the reason.
    return 0;
  } finally {
    await folder.close();
  }
};

interface ExportOptions {
  /** True for a change that can be imported. Other changes are left out. */
  isWhole(change: unknown): boolean;
  /** Receives a description of each omitted part. */
  onDamage: OnDamage;
  /** Receives the bytes of each part of a folder after the changes of that part. */
  onRead(bytes: number): void;
}

/**
 * Reads the readable changes in the files of a store, in pieces. A missing list entry leaves a hole. Throws a
 * JournalError if the files cannot be opened.
 */
export const exportFiles = (
  directory: string,
  store: PortableStore,
  options: ExportOptions,
): AsyncGenerator<readonly unknown[]> => {
  const { name, createState, projection, openFolder } = store;
  if (openFolder) return exportFolder(openFolder(join(directory, name)), options);
  if (createState) return exportState(directory, name, createState(), options);
  return projection ? exportProjection(directory, name, projection, options) : exportLog(directory, store, options);
};

type ExportedState = ReturnType<NonNullable<PortableStore['createState']>>;

async function* exportState(
  directory: string,
  name: string,
  state: ExportedState,
  options: ExportOptions,
): AsyncGenerator<readonly unknown[]> {
  const openLog = (logOptions: object) => openJournal({ directory, name, ...logOptions });
  await readFileChanges({ directory, openLog }, name, state, options);
  yield* state.changes();
}

async function* exportFolder(
  folder: PortableFolder,
  { isWhole, onDamage, onRead }: ExportOptions,
): AsyncGenerator<readonly unknown[]> {
  try {
    for await (const { file, changes, bytes } of folder.read()) {
      const whole = (changes ?? []).filter(isWhole);
      if (!changes || whole.length < changes.length) onDamage(`${file} cannot be read`);
      yield whole;
      onRead(bytes);
    }
  } finally {
    await folder.close();
  }
}

async function* exportProjection(
  directory: string,
  name: string,
  { follows, createState }: PortableProjection,
  { isWhole, onDamage }: ExportOptions,
): AsyncGenerator<readonly unknown[]> {
  const log = await openJournal({
    directory,
    name: follows ?? name,
    expects: 'own',
    report: (event) => {
      // The export of the log that this projection follows reports the damages.
      if (event.type === 'damaged' && follows === undefined) onDamage(event.damage);
    },
  });
  try {
    const snapshot = createSnapshotFile(join(directory, `${name}.state`));
    const state = await Projection.read({ log, snapshot, createState, onDamage });
    let leftOut = 0;
    for (const piece of state.save()) {
      const entries = piece.filter(isWhole);
      leftOut += piece.length - entries.length;
      yield entries;
    }
    if (leftOut > 0) onDamage(`${leftOut} ${leftOut === 1 ? 'entry' : 'entries'} of the snapshot`);
  } finally {
    await log.close();
  }
}

async function* exportLog(
  directory: string,
  { name, createFilter }: PortableStore,
  { isWhole, onDamage }: ExportOptions,
): AsyncGenerator<readonly unknown[]> {
  const journal = await openJournal({
    directory,
    name,
    expects: 'own',
    report: (event) => {
      if (event.type === 'damaged') onDamage(event.damage);
    },
  });
  const { before, filter } = createFilter?.(await readSnapshotChanges(directory, name, onDamage)) ?? passAll;
  let leftOut = 0;
  try {
    yield before.filter(isWhole);
    for await (const stored of journal.readAfter(0)) {
      const filtered = stored.map((one) => filter(toPortable(one), one.seq)).filter((one) => one !== undefined);
      const records = filtered.filter(isWhole);
      leftOut += filtered.length - records.length;
      yield records;
    }
  } finally {
    await journal.close();
  }
  if (leftOut > 0) onDamage(`${leftOut} ${leftOut === 1 ? 'record' : 'records'} of the log`);
}

/** Resolves to the changes in the snapshot of a log. Undefined without a snapshot. */
const readSnapshotChanges = async (directory: string, name: string, onDamage: OnDamage) => {
  const changes: unknown[] = [];
  const snapshot = createSnapshotFile(join(directory, `${name}.state`));
  const seq = await snapshot.read((change) => changes.push(change), onDamage);
  return seq === 0 ? undefined : { seq: seq ?? 0, changes };
};

const toPortable = ({ id, seq, crc: _crc, part: _part, ...record }: StoredRecord): PortableRecord => ({
  id,
  record,
  seq,
});
