import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import type { Changes, State } from '../../storage/changes/changes.ts';
import { type LogOptions, openChangeLog, readChangeLog } from '../../storage/changes/open-changes.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import { createSync } from '../../storage/journal/files/sync.ts';
import { type Journal, openJournal } from '../../storage/journal/journal.ts';
import type { Begun, OnProblem, Target } from './lines.ts';

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
  assertNoUnfinishedImport(directory);
  const onDamage = (damage: string): void => onProblem(`${name}: ${damage}`);
  const surroundings = { directory, openJournal: (options: LogOptions) => openLog(directory, name, options) };
  await readChangeLog(surroundings, name, state, { isWhole, onDamage }).catch(refuse);
};

export const hasFiles = (directory: string, { name }: Transfer): boolean =>
  ['jsonl', 'state'].some((ending) => existsSync(join(directory, `${name}.${ending}`)));

/** Opens the directory's lists for an import. Throws a SettingsError for those that are in use, or not empty. */
export const openFiles = async (directory: string, all: readonly Transfer[]): Promise<Target> => {
  const transfers = new Map(all.map((transfer) => [transfer, transfer.begin()]));
  const marker = join(directory, unfinishedImport);
  const opened: Changes<unknown, unknown>[] = [];
  const close = async (): Promise<void> => {
    for (const changes of opened) await changes.close();
  };
  const toStatePath = ({ name }: Transfer): string => join(directory, `${name}.state`);
  const removeStates = async (): Promise<void> => {
    for (const transfer of transfers.keys()) await rm(toStatePath(transfer), { force: true });
  };
  const removeMarker = async (): Promise<void> => {
    await rm(marker, { force: true });
    // It must not come back after a power cut, when there are later changes.
    await syncDirectory(directory);
  };
  try {
    for (const [transfer, { state }] of transfers) {
      const openJournalFor = async (options: LogOptions): Promise<Journal> => {
        const journal = await openLog(directory, transfer.name, options);
        // With the lock, this is nobody else's import.
        if (existsSync(marker)) await rm(toStatePath(transfer), { force: true });
        return journal;
      };
      const ignore = (): void => undefined;
      const surroundings = { directory, openJournal: openJournalFor, report: ignore };
      opened.push(await openChangeLog(surroundings, transfer.name, state, ignore));
    }
    assertEmpty(transfers);
  } catch (error) {
    await close();
    return refuse(error);
  }
  return {
    apply: (transfer, change) => {
      transfers.get(transfer)?.state.apply(change);
      return undefined;
    },
    store: async () => {
      try {
        await writeFile(marker, '', { mode: 0o600 });
        await syncDirectory(directory);
        for (const changes of opened) await changes.save();
      } catch (error) {
        await removeStates();
        await removeMarker();
        throw new SettingsError([`nothing was imported: ${(error as Error).message}`]);
      }
      await removeMarker();
    },
    close,
  };
};

const assertEmpty = (begun: ReadonlyMap<Transfer, Begun>): void => {
  for (const [{ name }, { state, toLine }] of begun) {
    for (const changes of state.changes()) {
      if (changes.some((change) => toLine(change) !== undefined)) {
        throw new SettingsError([`the store has or had ${name} already; import into an empty one`]);
      }
    }
  }
};

const { directory: syncDirectory } = createSync(true);

const openLog = (directory: string, name: string, options: LogOptions): Promise<Journal> =>
  openJournal({ directory, name, ...options });

const refuse = (error: unknown): never => {
  if (!(error instanceof JournalError)) throw error;
  throw new SettingsError([`dataDir: ${error.message}${error.code === 'locked' ? '; stop it first' : ''}`]);
};
