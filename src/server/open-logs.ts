import { SettingsError } from '../config/settings-error.ts';
import type { Concern } from '../kit/feature.ts';
import type { Meters } from '../metrics/meters.ts';
import type { JournalError } from '../storage/journal/errors.ts';
import { type Journal, openJournal } from '../storage/journal/journal.ts';
import type { JournalEvent } from '../storage/journal/options.ts';
import type { Storage } from '../storage/storage.ts';
import type { StorageParts } from './database.ts';

/** Maximum number of damages to logs that health shows. The program's own log has all of them. */
const maxDamages = 20;

/**
 * Creates the function that opens durable logs in the directory. It writes their events to the program's own log and
 * measures the logs.
 */
export const createLogOpener = (
  directory: string,
  { log, meters, onProgress }: Required<Pick<StorageParts, 'log' | 'meters' | 'onProgress'>>,
) => {
  /** Open logs by name. Reopening a log replaces its entry. */
  const logs = new Map<string, OpenedLog>();
  const damages: { title: string; damage: string }[] = [];
  const { failures, syncs } = createLogMeters(meters, logs);
  const openLog: Storage['log'] = async (name, { title = `${name} log`, logsRemoval = true, ...options } = {}) => {
    const [failed, synced] = [failures.at(name), syncs.at(name)];
    try {
      const journal = await openJournal({
        ...options,
        directory,
        name,
        report: (event) => {
          if (event.type === 'failed') failed.value += 1;
          if (event.type === 'damaged') {
            damages.push({ title, damage: event.damage });
            log.error(toDetails(event), `${title}: the log is damaged`);
          } else if (logsRemoval || event.type !== 'segments-removed')
            log.warn(toDetails(event), `${title}: ${eventTexts[event.type]}`);
        },
        onSync: (seconds) => synced.observe(seconds),
        onIndexed: (done, total) => onProgress(`Indexing the ${title}`, done, total),
      });
      logs.set(name, { title, journal, firstSeq: journal.state().lastSeq });
      return journal;
    } catch (error) {
      const { code, message } = error as JournalError;
      const advice = `${code === 'locked' ? '; stop that process, or' : ';'} choose another folder with --data-dir`;
      throw new SettingsError([`dataDir: ${message}${advice}`], { cause: error });
    }
  };
  const findLogConcerns = (unavailable: readonly string[]): Concern[] => {
    // The store has already written this to the program's own log, under the name of its feature.
    const failed = [...logs]
      .filter(([name, { journal }]) => !journal.state().healthy && !unavailable.includes(name))
      .map(([, { title }]): Concern => ({ area: 'log', severity: 'CRITICAL', text: `The ${title} cannot be written` }));
    const damaged = damages.slice(0, maxDamages).map(({ title, damage }): Concern => {
      return { area: 'log', severity: 'ERROR', text: `The ${title} is damaged: ${damage}` };
    });
    return [...failed, ...damaged];
  };
  const reopen = async (): Promise<void> => {
    await Promise.all(Array.from(logs.values(), ({ journal }) => journal.reopen()));
  };
  return { openLog, findLogConcerns, reopen };
};

/** Messages in the server's own log about the events of a journal. */
const eventTexts: Readonly<Record<Exclude<JournalEvent['type'], 'damaged'>, string>> = {
  'tail-cut': 'an incomplete last line was moved to another file',
  failed: 'records cannot be stored',
  recovered: 'records are stored again',
  reopened: 'the file was opened again, because another program changed the file',
  'segments-removed': 'old files were deleted',
};

/**
 * Returns the details of the event. An error is named `err`, because pino serializes the member of this name in full.
 */
const toDetails = (event: JournalEvent): object => {
  const { type, ...details } = event;
  return type === 'failed' ? { err: event.error } : details;
};

interface OpenedLog {
  title: string;
  journal: Journal;
  firstSeq: number;
}

/** Upper bounds of the buckets, in seconds. */
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
    'Records waiting for the disk.',
    ({ journal }) => journal.state().waiting,
  );
  add('gauge', 'signalbox_journal_writable', '1 if records are stored, 0 if they are refused.', ({ journal }) =>
    Number(journal.state().healthy),
  );
  return { failures, syncs };
};
