import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import type { Changes, State } from '../../storage/changes/changes.ts';
import { type LogOptions, openChangeLog, readChangeLog } from '../../storage/changes/open-changes.ts';
import { createSync } from '../../storage/journal/files.ts';
import { type Journal, openJournal } from '../../storage/journal/journal.ts';
import type { MovedRecord } from '../../storage/record-log.ts';
import type { Begun, OnProblem, Target } from './lines.ts';
import { openEmptyLog, type RecordTarget, refuse, removeLog } from './record-files.ts';

/** While this file exists, an import may have stored some lists and not the others. */
const unfinishedImport = 'import.unfinished';

/** Throws a SettingsError if an import into the directory was interrupted while it stored. */
export const assertNoUnfinishedImport = (directory: string): void => {
  if (!existsSync(join(directory, unfinishedImport))) return;
  throw new SettingsError([
    `dataDir: ${directory} has part of an import that was interrupted; run signalbox import again`,
  ]);
};

/** Reads what the directory keeps for a transfer into its state, as far as it can be read. Throws a SettingsError. */
export const readFromFiles = async (
  directory: string,
  { name }: Transfer,
  state: State<unknown, unknown>,
  { isWhole, onProblem }: { isWhole(change: unknown): boolean; onProblem: OnProblem },
): Promise<void> => {
  const onDamage = (damage: string): void => onProblem(`${name}: ${damage}`);
  const surroundings = { directory, openJournal: (options: LogOptions) => openLog(directory, name, options) };
  await readChangeLog(surroundings, name, state, { isWhole, onDamage }).catch(refuse);
};

export const hasFiles = (directory: string, { name }: Transfer): boolean =>
  ['jsonl', 'state'].some((ending) => existsSync(join(directory, `${name}.${ending}`)));

/**
 * Opens the directory's lists and logs for an import. Throws a SettingsError for those that are in use, or not empty. Records
 * are written as they come, lists at the end; while not everything is stored, there is the file `import.unfinished`, which
 * names the logs that were empty before.
 */
export const openFiles = async (directory: string, all: readonly Transfer[]): Promise<Target> => {
  const transfers = new Map(all.map((transfer) => [transfer, transfer.begin()]));
  const lists: Changes<unknown, unknown>[] = [];
  const logs = new Map<Transfer, RecordTarget>();
  const closeAll = async (): Promise<void> => {
    for (const one of [...lists, ...logs.values()]) await one.close();
  };
  const marker = createMarker(directory);
  let isBegun = false;
  let isStored = false;
  const onFirst = async (): Promise<void> => {
    if (isBegun) return;
    isBegun = true;
    await marker.write([...logs.keys()].map(({ name }) => name));
  };
  try {
    const unfinished = marker.read();
    for (const [transfer, { state }] of transfers) {
      const { name } = transfer;
      if (state) lists.push(await openList(directory, name, state, unfinished !== undefined));
      else {
        const beginning = { isBegun: unfinished?.includes(name) === true, onFirst };
        logs.set(transfer, await openEmptyLog(directory, name, beginning));
      }
    }
    assertEmpty(transfers);
  } catch (error) {
    await closeAll();
    return refuse(error);
  }
  const undo = async (): Promise<void> => {
    for (const [{ name }, { state }] of transfers) {
      if (state) await rm(toStatePath(directory, name), { force: true });
      else await removeLog(directory, name);
    }
    await marker.remove();
  };
  return {
    apply: (transfer, change, length) => {
      const log = logs.get(transfer);
      if (log) return log.add(change as MovedRecord, length);
      transfers.get(transfer)?.state?.apply(change);
      return undefined;
    },
    store: async () => {
      try {
        await onFirst();
        for (const log of logs.values()) await log.flush();
        for (const list of lists) await list.save();
        isStored = true;
      } catch (error) {
        throw new SettingsError([`nothing was imported: ${(error as Error).message}`]);
      }
      await marker.remove();
    },
    close: async () => {
      await closeAll();
      if (isBegun && !isStored) await undo();
    },
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

const toStatePath = (directory: string, name: string): string => join(directory, `${name}.state`);

/** Opens a list; with `isUnfinished`, what an interrupted import has stored is removed. */
const openList = (
  directory: string,
  name: string,
  state: State<unknown, unknown>,
  isUnfinished: boolean,
): Promise<Changes<unknown, unknown>> => {
  const openJournalFor = async (options: LogOptions): Promise<Journal> => {
    const journal = await openLog(directory, name, options);
    // With the lock, this is nobody else's import.
    if (isUnfinished) await rm(toStatePath(directory, name), { force: true });
    return journal;
  };
  const ignore = (): void => undefined;
  return openChangeLog({ directory, openJournal: openJournalFor, report: ignore }, name, state, ignore);
};

const assertEmpty = (begun: ReadonlyMap<Transfer, Begun>): void => {
  for (const [{ name }, { state, toLine }] of begun) {
    for (const changes of state?.changes() ?? []) {
      if (changes.some((change) => toLine(change) !== undefined)) {
        throw new SettingsError([`the store has or had ${name} already; import into an empty one`]);
      }
    }
  }
};

const openLog = (directory: string, name: string, options: LogOptions): Promise<Journal> =>
  openJournal({ directory, name, ...options });
