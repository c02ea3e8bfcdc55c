import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import type { Concern, OpenLog, Parts, RandomSecrets } from '../kit/feature.ts';
import { isObject, parseJson } from '../lib/parse-json.ts';
import type { Meters } from '../metrics/meters.ts';
import { keepInMemory, limitBytes, type OpenChanges } from '../storage/changes.ts';
import { createFolderOf } from '../storage/folder.ts';
import { codeOf, explainOpening, JournalError } from '../storage/journal/errors.ts';
import { createDirectory, createSync } from '../storage/journal/files.ts';
import { type Journal, openJournal } from '../storage/journal/journal.ts';
import type { JournalEvent } from '../storage/journal/options.ts';
import { type LogOptions, openKeptChanges } from '../storage/kept-changes.ts';
import { hasUnfinishedImport } from '../storage/moved-store.ts';
import { createReplacedFile, replaceFile } from '../storage/replaced-file.ts';
import { createSnapshotFile } from '../storage/snapshot-file.ts';
import { type OnProgress, openDatabase, type StorageParts } from './database.ts';
import { requireStore } from './store.ts';

/** Storage of data that must survive the app. */
export interface AppStorage
  extends Pick<
    Parts,
    | 'database'
    | 'openLog'
    | 'openChanges'
    | 'openFolder'
    | 'openFile'
    | 'openState'
    | 'place'
    | 'readDataSpace'
    | 'secrets'
  > {
  /** Returns the data that cannot be stored at the moment; `unavailable` lists the features whose changes cannot. */
  findStorageConcerns(unavailable: readonly string[]): Concern[];
  /** Reopens log files that another program has moved. */
  reopen(): Promise<void>;
  /** Called when shutdown begins. */
  stop(): void;
  close(): Promise<void>;
}

/** Opens storage. Throws a SettingsError for an unusable directory or database. */
export type OpenStorage = (settings: Settings, parts: StorageParts) => Promise<AppStorage>;

/** Opens the data directory, and the database if the setting `store` names one. */
export const openStorage: OpenStorage = async (settings, parts) => {
  const directory = resolve(settings.dataDir);
  const { log, meters, onProgress = createProgressLog(log) } = parts;
  // An import may have begun to store alerts, which a memory store keeps in this directory too.
  const { kind } = requireStore(settings.store);
  if (kind !== 'postgresql') assertNoUnfinishedImport(directory);
  const { openLog, findLogConcerns } = createLogOpener(directory, { log, meters, onProgress });
  const { openChanges, reopen } =
    kind === 'file' ? createChangesOpener(directory, openLog, { log, onProgress }) : openChangesInMemory;
  const { storeMaxBytes = Math.floor(getHeapStatistics().heap_size_limit / 2) } = settings;
  const full = `Tasks and items take up all of storeMaxBytes (${storeMaxBytes}): delete some, or raise it`;
  const secrets = settings.keepSecrets ? await openKeptSecrets(directory) : createPassingSecrets();
  const database = await openDatabase(settings, { ...parts, onProgress });
  return {
    database,
    openLog,
    openChanges: limitBytes(openChanges, storeMaxBytes, full),
    reopen,
    secrets,
    openFile: (name) => createReplacedFile(directory, name),
    openFolder: (name) => createFolderOf(join(directory, name)),
    openState: (name, minFreeBytes) => createSnapshotFile(join(directory, `${name}.state`), { minFreeBytes }),
    place: { store: kind, folder: directory },
    readDataSpace: async () => {
      const { bsize, blocks, bfree, bavail } = await statfs(directory);
      return { used: bsize * (blocks - bfree), available: bsize * bavail };
    },
    findStorageConcerns: (unavailable) => [
      ...(database?.failure
        ? [toConcern('stores', 'The database cannot be used')]
        : unavailable.map((name) => toConcern('stores', `Changes of ${name} cannot be stored`))),
      ...findLogConcerns(unavailable),
    ],
    stop: () => database?.stop(),
    close: async () => database?.close(),
  };
};

/** Milliseconds after which the log mentions slow work. */
const longMs = 2000;

/** Logs slow work once. */
const createProgressLog = (log: FastifyBaseLogger): OnProgress => {
  const begun = new Map<string, number>();
  return (what, done, total) => {
    const startedAt = begun.get(what) ?? performance.now();
    begun.set(what, startedAt);
    if (done === total) begun.delete(what);
    else if (performance.now() - startedAt > longMs) {
      begun.set(what, Number.POSITIVE_INFINITY);
      log.info({ done, total }, `slow work: ${what}`);
    }
  };
};

const toConcern = (area: Concern['area'], text: string): Concern => ({ area, severity: 'CRITICAL', text });

/** Throws a SettingsError if an import into the directory was interrupted while storing. */
export const assertNoUnfinishedImport = (directory: string): void => {
  if (!hasUnfinishedImport(directory)) return;
  throw new SettingsError([
    `dataDir: ${directory} has part of an import that was interrupted; run signalbox import again`,
  ]);
};

/**
 * Runs a function with temporary storage for a trial app: neither the data directory nor the database of the settings
 * is opened, and nothing remains afterwards. Throws a SettingsError without a folder for temporary files.
 */
export const withTrialStorage = async <T>(run: (openStorage: OpenStorage) => Promise<T>): Promise<T> => {
  const folder = createTemporaryFolder();
  try {
    return await run((settings, parts) =>
      openStorage({ ...settings, store: 'memory', dataDir: folder, keepSecrets: false }, parts),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const createTemporaryFolder = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'signalbox-check-'));
  } catch {
    throw new SettingsError([
      `cannot create a temporary folder in ${tmpdir()}: set TMPDIR to a folder that this account can write`,
    ]);
  }
};

type ChangesOpener = Pick<AppStorage, 'openChanges' | 'reopen'>;

const openChangesInMemory: ChangesOpener = {
  openChanges: async (_name, state) => keepInMemory(state),
  reopen: async () => undefined,
};

/** Opens change logs in files of the directory. */
const createChangesOpener = (
  directory: string,
  openLog: OpenLog,
  { log, onProgress }: Required<Pick<StorageParts, 'log' | 'onProgress'>>,
): ChangesOpener => {
  const journals: Journal[] = [];
  const openChanges: OpenChanges = async (name, state, onLost) => {
    const openChangesJournal = async (options: LogOptions, isExpected: (event: JournalEvent) => boolean) => {
      const journal = await openLog(`${name} log`, { name, ...options }, isExpected);
      journals.push(journal);
      return journal;
    };
    const report = (err: Error) => log.warn({ err }, `${name}: the state cannot be written, so the log is kept`);
    const refuse = (error: unknown): never => {
      throw toRefusal(name, directory, error);
    };
    const onRead = (done: number, total: number) => onProgress(`Reading ${name}`, done, total);
    const surroundings = { directory, openJournal: openChangesJournal, report, onRead };
    const changes = await openKeptChanges(surroundings, name, state, onLost).catch(refuse);
    return {
      write: (change) => changes.write(change),
      countWaiting: () => changes.countWaiting(),
      isReady: () => changes.isReady(),
      // Saves the records of a seed, on startup.
      save: async () => Promise.resolve(changes.save()).catch(refuse),
      close: () => changes.close(),
    };
  };
  const reopen = async (): Promise<void> => {
    await Promise.all(journals.map((journal) => journal.reopen()));
  };
  return { openChanges, reopen };
};

/** Returns a SettingsError if the files are at fault, else the error itself. */
const toRefusal = (name: string, directory: string, error: unknown): unknown => {
  if (error instanceof JournalError && error.code === 'damaged') {
    return new SettingsError([
      `dataDir: ${name}: ${error.message}; restore the folder from a backup, or save what can be read with signalbox export`,
    ]);
  }
  if (codeOf(error) === undefined) return error;
  const reason = explainOpening(error);
  return new SettingsError([
    `dataDir: ${name}: ${directory} cannot be used: ${reason}; choose another folder with --data-dir`,
  ]);
};

/** Maximum damages of logs that health shows; the program's log has all of them. */
const maxDamages = 20;

/** Opens durable logs in the directory, logs their events and measures them. */
const createLogOpener = (
  directory: string,
  { log, meters, onProgress }: Required<Pick<StorageParts, 'log' | 'meters' | 'onProgress'>>,
) => {
  /** Open logs by name; reopening a log replaces its entry. */
  const logs = new Map<string, OpenedLog>();
  const damages: { title: string; damage: string }[] = [];
  const { failures, syncs } = createLogMeters(meters, logs);
  const openLog: OpenLog = async (title, options, isExpected = () => false) => {
    const { name } = options;
    const [failed, synced] = [failures.at(name), syncs.at(name)];
    try {
      const journal = await openJournal({
        ...options,
        directory,
        report: (event) => {
          if (event.type === 'failed') failed.value += 1;
          if (event.type === 'damaged') {
            damages.push({ title, damage: event.damage });
            log.error(toDetails(event), `${title}: damaged`);
          } else if (!isExpected(event)) log.warn(toDetails(event), `${title}: ${event.type}`);
        },
        onSync: (seconds) => synced.observe(seconds),
        onIndexed: (done, total) => onProgress(`Indexing the ${title}`, done, total),
      });
      logs.set(name, { title, journal, firstSeq: journal.state().lastSeq });
      return journal;
    } catch (error) {
      const { code, message } = error as JournalError;
      const advice = `${code === 'locked' ? '; stop it, or' : ';'} choose another folder with --data-dir`;
      throw new SettingsError([`dataDir: ${message}${advice}`], { cause: error });
    }
  };
  const findLogConcerns = (unavailable: readonly string[]): Concern[] => {
    // The log entry of a store was already written under its feature's name.
    const failed = [...logs]
      .filter(([name, { journal }]) => !journal.state().healthy && !unavailable.includes(name))
      .map(([, { title }]) => toConcern('log', `The ${title} cannot be written`));
    const damaged = damages.slice(0, maxDamages).map(({ title, damage }): Concern => {
      return { area: 'log', severity: 'ERROR', text: `The ${title} is damaged: ${damage}` };
    });
    return [...failed, ...damaged];
  };
  return { openLog, findLogConcerns };
};

/** Returns the event's details; an error is called `err`, the name that pino serializes in full. */
const toDetails = (event: JournalEvent): object => {
  const { type, ...details } = event;
  return type === 'failed' ? { err: event.error } : details;
};

interface OpenedLog {
  title: string;
  journal: Journal;
  firstSeq: number;
}

/** Upper bounds in seconds. */
const syncBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Adds the meters of all logs, by log name. */
const createLogMeters = (meters: Meters, logs: ReadonlyMap<string, OpenedLog>) => {
  const labels = ['journal'];
  const add = (type: 'counter' | 'gauge', name: string, help: string, read: (log: OpenedLog) => number) =>
    meters.reading(type, name, help, () => Array.from(logs, ([log, opened]) => [[log], read(opened)] as const), labels);
  const failuresHelp = 'Failed writes; a failure lasts until records are stored again.';
  const failures = meters.counter('signalbox_journal_errors_total', failuresHelp, labels);
  const syncsHelp = 'Time to sync records to disk.';
  const syncs = meters.histogram('signalbox_journal_fsync_duration_seconds', syncsHelp, labels, syncBounds);
  add(
    'counter',
    'signalbox_journal_appends_total',
    'Records written since the start of this process.',
    ({ journal, firstSeq }) => journal.state().lastSeq - firstSeq,
  );
  add(
    'gauge',
    'signalbox_journal_queue_records',
    'Records that wait for the disk.',
    ({ journal }) => journal.state().waiting,
  );
  add('gauge', 'signalbox_journal_writable', '1 if records are stored, 0 if they are refused.', ({ journal }) =>
    Number(journal.state().healthy),
  );
  return { failures, syncs };
};

/** Creates secrets that change with each restart. */
const createPassingSecrets = (): RandomSecrets => createSecrets(undefined, new Map(), () => undefined);

/**
 * Opens the secrets in the file `secrets.json` of the directory, which only its owner can read. Throws a SettingsError
 * if the file cannot be used; `get` throws one if a new secret cannot be stored.
 */
const openKeptSecrets = async (directory: string): Promise<RandomSecrets> => {
  const file = join(directory, 'secrets.json');
  const refuse = (error: unknown): never => {
    throw new SettingsError([
      `dataDir: ${directory} cannot be used: ${explainOpening(error)}; choose another folder with --data-dir`,
    ]);
  };
  await createDirectory(directory, createSync(true)).catch(refuse);
  return createSecrets(file, readSecrets(file, refuse), (secrets) => {
    try {
      replaceFile(file, `${JSON.stringify(secrets, null, 2)}\n`);
    } catch (error) {
      refuse(error);
    }
  });
};

/** Creates random secrets. `keep` stores all secrets before a new secret is used. */
const createSecrets = (
  file: string | undefined,
  secrets: Map<string, string>,
  keep: (secrets: Record<string, string>) => void,
): RandomSecrets => ({
  file,
  get: (name, bytes) => {
    const known = secrets.get(name);
    if (known !== undefined) return known;
    const secret = randomBytes(bytes).toString('base64url');
    keep({ ...Object.fromEntries(secrets), [name]: secret });
    secrets.set(name, secret);
    return secret;
  },
});

const readSecrets = (file: string, refuse: (error: unknown) => never): Map<string, string> => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? new Map() : refuse(error);
  }
  const secrets = parseJson(text);
  if (isTexts(secrets)) return new Map(Object.entries(secrets));
  throw new SettingsError([
    `dataDir: ${file} is damaged; restore it from a backup, or delete it for new passwords and a new signing key`,
  ]);
};

const isTexts = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');
