import { resolve } from 'node:path';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import type { Transfer } from '../kit/feature.ts';
import { createSchemaCheck, describeSchemaErrors, listSchemaErrors } from '../lib/schema-validation.ts';
import { MiB } from '../lib/units.ts';
import { exportFiles, hasFiles, hasFormerFiles, readSizeOfFiles } from '../storage/file-export.ts';
import { openFilesForImport } from '../storage/file-import.ts';
import { JournalError } from '../storage/journal/errors.ts';
import { Places } from '../storage/places.ts';
import type { ImportedStores, PortableRecord } from '../storage/portable-store.ts';
import { explainUnreachable } from '../storage/postgres/database-errors.ts';
import { readLines } from '../storage/snapshot-file.ts';
import { assertNoUnfinishedImport } from './storage.ts';
import { requireStore, type Store, toDatabaseRefusal } from './store.ts';

/** First line of an export. Its number changes with the format. */
const firstLine = { signalbox: 'export', version: 1 };

/** Last line of an export. If it is missing, the export was cut short. */
const lastLine = { signalbox: 'end' };

/** Number of characters per piece of an export. The last line of a piece may exceed it. */
const textLength = 256 * 1024;

/** Total bytes of the lines whose changes are stored together. */
const pieceLength = MiB;

/** Maximum size of a line in bytes: a body of 1 MiB with every character escaped twice. */
const maxLineBytes = 16 * MiB;

/** Numbers of exported or imported lines, by key. */
export type Counts = Record<string, number>;

/** Callbacks for a running export. */
interface ExportReports {
  /** Receives a description of unreadable data, as a clause. */
  onProblem: OnProblem;
  /** Receives the estimated progress. */
  onProgress?: (done: number, total: number) => void;
}

type OnProblem = (problem: string) => void;

const formerProblem = 'the data of version 1.1.0 is not converted yet; start this version once, then export again';

/**
 * Exports everything in the configured store as lines of JSON, in pieces of text. Unreadable data is left out and
 * reported to `onProblem`. Throws a SettingsError if the store is unreadable.
 */
export async function* exportLines(
  { store: setting, dataDir }: Settings,
  transfers: readonly Transfer[],
  counts: Counts,
  { onProblem, onProgress = () => undefined }: ExportReports,
): AsyncGenerator<string> {
  const place = requireStore(setting);
  // Nothing is printed if the first store cannot be opened.
  let text = toLineText(firstLine);
  const written = new Map<Transfer, number>();
  const lost = new Map<Transfer, number>();
  const places = createPlaces(transfers);
  const directory = resolve(dataDir);
  const { note, noteFile, setCount } = await createExportProgress(
    directory,
    // The rows of a database are counted instead.
    place.kind === 'postgresql' ? [] : transfers,
    onProgress,
  );
  try {
    for await (const { store, changes } of readStores(place, directory, transfers, {
      onProblem,
      onEstimate: setCount,
      onRead: noteFile,
    })) {
      for (const change of changes) {
        if (change === undefined) {
          count(lost, store);
          continue;
        }
        const [key, value] = store.toLine(change, written.get(store) ?? 0, places.followedBy(store)) ?? [];
        if (key === undefined) continue;
        count(written, store);
        places.note(store, change);
        counts[key] = (counts[key] ?? 0) + 1;
        const line = toLineText({ [key]: value });
        text += line;
        note(store, line.length);
        if (text.length < textLength) continue;
        yield text;
        text = '';
      }
    }
  } catch (error) {
    throw toRefusal(place, error as Error);
  }
  for (const [{ name }, number] of lost)
    onProblem(`${name}: ${number} lost ${number === 1 ? 'entry' : 'entries'}; later entries get new numbers`);
  yield text + toLineText(lastLine);
}

/** Creates the places of exported records, for the logs that projections follow. */
const createPlaces = (transfers: readonly Transfer[]) => {
  const none = new Places();
  const byLog = new Map(
    transfers.flatMap(({ projection }) => (projection?.follows ? [[projection.follows, new Places()]] : [])),
  );
  return {
    followedBy: ({ projection }: Transfer): Places => byLog.get(projection?.follows ?? '') ?? none,
    note: ({ name }: Transfer, change: unknown): void => {
      const { seq } = change as PortableRecord;
      if (seq !== undefined) byLog.get(name)?.add(seq);
    },
  };
};

/**
 * Estimates the progress of an export. Lines are about as long as in the files of their store, so file sizes show how
 * much is left. For a database, the number of rows does.
 */
const createExportProgress = async (
  directory: string,
  transfers: readonly Transfer[],
  report: (done: number, total: number) => void,
) => {
  const parts = new Map<Transfer, { before: number; size: number }>();
  let total = 0;
  for (const store of transfers) {
    const size = hasFiles(directory, store) ? await readSizeOfFiles(directory, store) : 0;
    parts.set(store, { before: total, size });
    total += size;
  }
  let rows: number | undefined;
  let done = 0;
  let current: Transfer | undefined;
  const add = (store: Transfer, amount: number): void => {
    // The earlier store is complete, whatever its estimate was.
    if (rows === undefined && store !== current) done = 0;
    current = store;
    done += amount;
    const { before = 0, size = 0 } = rows === undefined ? (parts.get(store) ?? {}) : { size: rows };
    // Kept below the end, because the size is only an estimate.
    report(before + Math.min(done, size * 0.99), rows ?? total);
  };
  return {
    /** Sets the approximate number of exported rows. */
    setCount: (count: number): void => {
      rows = count;
    },
    note: (store: Transfer, length: number): void => {
      if (rows !== undefined) add(store, 1);
      else if (!store.openFolder) add(store, length);
    },
    /** Files of a folder may be longer or shorter than their lines. */
    noteFile: add,
  };
};

const toLineText = (line: object): string => `${JSON.stringify(line)}\n`;

const count = <Key>(numbers: Map<Key, number>, key: Key): void => {
  numbers.set(key, (numbers.get(key) ?? 0) + 1);
};

interface StoreReports {
  onProblem: OnProblem;
  /** Receives the approximate number of rows in a database. */
  onEstimate(count: number): void;
  /** Receives the bytes of each part of a folder after the changes of that part. */
  onRead(store: Transfer, bytes: number): void;
}

/** Reads the changes of all stores in batches. Each lost list entry leaves a hole. */
async function* readStores(
  place: Store,
  directory: string,
  transfers: readonly Transfer[],
  { onProblem, onEstimate, onRead }: StoreReports,
): AsyncGenerator<{ store: Transfer; changes: readonly unknown[] }> {
  if (place.kind === 'memory') {
    throw new SettingsError([
      'store: tasks and items in a memory store cannot be exported; to export alerts and the audit, pass --store file',
    ]);
  }
  if (place.kind === 'postgresql') {
    const { exportTables } = await loadTables();
    const isThere = yield* exportTables(place.url, transfers, {
      onEstimate,
      onDamage: ({ name }, damage) => onProblem(`${name}: ${damage}`),
      onFormer: ({ name }) => onProblem(`${name}: ${formerProblem}`),
    });
    if (!isThere) throw new SettingsError(['store: the database has nothing to export']);
    return;
  }
  assertNoUnfinishedImport(directory);
  const kept = transfers.filter((store) => hasFiles(directory, store));
  if (kept.length === 0) {
    throw new SettingsError([`dataDir: ${directory} has nothing to export; choose another folder with --data-dir`]);
  }
  for (const { name } of transfers.filter((store) => hasFormerFiles(directory, store)))
    onProblem(`${name}: ${formerProblem}`);
  for (const store of kept) {
    const isWhole = createWholeCheck(store);
    const onDamage = (damage: string): void => onProblem(`${store.name}: ${damage}`);
    const onFolderRead = (bytes: number): void => onRead(store, bytes);
    const options = { isWhole, onDamage, onRead: onFolderRead };
    for await (const changes of exportFiles(directory, store, options)) yield { store, changes };
  }
}

/** Creates a check of whether a change from files can be imported as a line. */
const createWholeCheck = (transfer: Transfer) => {
  const checks = createChecks(transfer);
  return (change: unknown): boolean => {
    try {
      const [key, value] = transfer.toLine(change, 0, new Places()) ?? [];
      return key === undefined || checks.get(key)?.(value) === undefined;
    } catch {
      return false;
    }
  };
};

/**
 * Stores an export in the configured store. The store must be empty. The lines of the export come from a stream.
 * Resolves to the counts. If an error is thrown, nothing is stored. Throws a SettingsError with the number of an
 * unreadable line.
 */
export const importLines = async (
  { store: setting, dataDir }: Settings,
  transfers: readonly Transfer[],
  input: AsyncIterable<Buffer>,
): Promise<Counts> => {
  const store = requireStore(setting);
  if (store.kind === 'memory') {
    throw new SettingsError(['store: an import into a memory store would be lost; choose another store with --store']);
  }
  const stores = await openStores(store, resolve(dataDir), transfers).catch((error) => {
    throw toRefusal(store, error);
  });
  try {
    if (stores.occupied !== undefined) {
      throw new SettingsError([
        `the store is not empty, because ${stores.occupied} are or were stored; import into an empty store`,
      ]);
    }
    const counts: Counts = {};
    try {
      for await (const { transfer, changes } of readPieces(input, transfers, stores.pieceCount, counts)) {
        await stores.add(transfer, changes);
      }
      await stores.save();
    } catch (error) {
      throw error instanceof SettingsError
        ? error
        : new SettingsError([`nothing was imported: ${(error as Error).message}`]);
    }
    if (await stores.commit()) return counts;
  } finally {
    await stores.close();
  }
  throw new SettingsError([
    'the database did not confirm the import: run signalbox export to check that the import is complete',
  ]);
};

const openStores = async (store: Store, directory: string, transfers: readonly Transfer[]): Promise<ImportedStores> => {
  if (store.kind === 'postgresql') return (await loadTables()).openTablesForImport(store.url, transfers);
  return openFilesForImport(directory, transfers);
};

/** Loads the tables on demand, because the driver costs memory and time. */
const loadTables = () => import('../storage/postgres/table-transfer.ts');

/** Changes of one store that are stored together. */
interface Piece {
  transfer: Transfer;
  changes: unknown[];
  /** Total bytes of the lines. */
  length: number;
}

/**
 * Reads the changes in an export and counts them by the keys of their lines. Throws a SettingsError that names the
 * line.
 */
async function* readPieces(
  input: AsyncIterable<Buffer>,
  transfers: readonly Transfer[],
  pieceCount: number,
  counts: Counts,
): AsyncGenerator<Piece> {
  const parseLine = createLineParser(transfers, counts);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let piece: Piece | undefined;
  let current = 1;
  let isComplete = false;
  try {
    for await (const line of readLines(input, maxLineBytes)) {
      const value: unknown = JSON.parse(decoder.decode(line));
      if (isComplete) throw new SettingsError(['the export contains more lines after its last line']);
      if (current === 1) assertFirstLine(value);
      else if (Object(value).signalbox === lastLine.signalbox) isComplete = true;
      else {
        const { key, transfer, change } = parseLine(value);
        const isFull = piece && (piece.changes.length >= pieceCount || piece.length > pieceLength);
        if (piece && (isFull || piece.transfer !== transfer)) {
          yield piece;
          piece = undefined;
        }
        piece ??= { transfer, changes: [], length: 0 };
        piece.changes.push(change);
        piece.length += line.length;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      current += 1;
    }
    if (!isComplete) throw new SettingsError(['the export is incomplete: its last line is missing']);
  } catch (error) {
    throw new SettingsError([`line ${current}: ${explain(error as Error)}; nothing was imported`]);
  }
  if (piece) yield piece;
}

const assertFirstLine = (line: unknown): void => {
  const { signalbox, version } = Object(line);
  if (signalbox !== firstLine.signalbox) {
    throw new SettingsError([`expected ${JSON.stringify(firstLine)}: the input is not a signalbox export`]);
  }
  if (version === firstLine.version) return;
  throw new SettingsError([
    `this export has version ${JSON.stringify(version)}, but this version of signalbox reads only version ${firstLine.version}: upgrade signalbox`,
  ]);
};

/**
 * Creates a function that parses lines in order. It throws a SettingsError for an invalid line. `counts` has the counts
 * of earlier lines.
 */
const createLineParser = (transfers: readonly Transfer[], counts: Counts) => {
  const kinds = new Map(
    transfers.flatMap((transfer) => {
      const toChange = transfer.createParser();
      return Array.from(createChecks(transfer), ([key, findProblem]) => [key, { transfer, toChange, findProblem }]);
    }),
  );
  return (line: unknown) => {
    const [[key, value] = [], ...others] = typeof line === 'object' && line !== null ? Object.entries(line) : [];
    const kind = others.length === 0 ? kinds.get(key ?? '') : undefined;
    if (key === undefined || !kind) {
      throw new SettingsError([`expected an object with one of the keys ${[...kinds.keys()].join(', ')}`]);
    }
    const problem = kind.findProblem(value);
    if (problem !== undefined) throw new SettingsError([problem]);
    return { key, transfer: kind.transfer, change: kind.toChange(key, value, counts) };
  };
};

/** Creates checks by line key. A check returns the reason why a value is invalid, as a clause. */
const createChecks = ({ lines }: Transfer) =>
  new Map(
    Object.entries(lines).map(([key, schema]) => {
      const isValid = createSchemaCheck(schema);
      const findProblem = (value: unknown): string | undefined => {
        if (isValid(value)) return undefined;
        const [fault] = describeSchemaErrors(listSchemaErrors(schema, value), { schema });
        return fault ? `${[key, ...fault.path].join('.')} ${fault.clause}` : `${key} is not valid`;
      };
      return [key, findProblem] as const;
    }),
  );

/**
 * Explains an error of the parser without the text, because the parser's own message repeats the text and the text may
 * be long.
 */
const explain = (error: Error): string => {
  if (error instanceof SyntaxError) return 'the line is not valid JSON';
  if (error instanceof TypeError) return 'the line is not valid UTF-8';
  return error.message;
};

/** Returns the error for an unusable store. Other file errors stay unchanged. */
const toRefusal = (store: Store, error: Error): Error => {
  if (error instanceof SettingsError) return error;
  if (store.kind === 'postgresql') return toDatabaseRefusal(explainUnreachable(error) ?? error.message);
  if (!(error instanceof JournalError)) return error;
  return new SettingsError([`dataDir: ${error.message}${error.code === 'locked' ? '; stop that process first' : ''}`]);
};
