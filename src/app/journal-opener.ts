import type { FastifyBaseLogger } from 'fastify';
import { SettingsError } from '../config/settings-error.ts';
import type { Meters } from '../metrics/meters.ts';
import type { OpenLog } from '../profiles/feature.ts';
import type { JournalError } from '../storage/journal/errors.ts';
import { type Journal, openJournal } from '../storage/journal/journal.ts';
import type { JournalEvent } from '../storage/journal/options.ts';

interface LogOpener {
  openLog: OpenLog;
  /** The logs that cannot be written at the moment. */
  listUnwritable(): UnwritableLog[];
}

export interface UnwritableLog {
  title: string;
  name: string;
}

/** Opens durable logs in the data directory; their events are logged, and they are measured. */
export const createLogOpener = (directory: string, log: FastifyBaseLogger, meters: Meters): LogOpener => {
  const measured = measureLogs(meters);
  const openLog: OpenLog = async (title, options, isExpected = () => false) => {
    const { failures, syncs } = measured.at(options.name);
    try {
      const journal = await openJournal({
        ...options,
        directory,
        report: (event) => {
          if (event.type === 'failed') failures.value += 1;
          if (!isExpected(event)) log.warn(toDetails(event), `${title}: ${event.type}`);
        },
        onSync: (seconds) => syncs.observe(seconds),
      });
      measured.add(options.name, title, journal);
      return journal;
    } catch (error) {
      const { code, message } = error as JournalError;
      throw new SettingsError([
        `dataDir: ${message}${code === 'locked' ? '; stop it, or' : ';'} choose another folder with --data-dir`,
      ]);
    }
  };
  return { openLog, listUnwritable: measured.listUnwritable };
};

/** The event's details; an error is called `err`, the name that pino serializes in full. */
const toDetails = (event: JournalEvent): object => {
  const { type, ...details } = event;
  return type === 'failed' ? { err: event.error } : details;
};

/** Upper bounds in seconds. */
const syncBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

interface OpenedLog {
  title: string;
  journal: Journal;
  firstSeq: number;
}

/** The meters of all logs, by their names. */
const measureLogs = (meters: Meters) => {
  const labels = ['journal'];
  const failures = meters.counter(
    'signalbox_journal_errors_total',
    'Failed writes, each until records are stored again.',
    labels,
  );
  const syncs = meters.histogram(
    'signalbox_journal_fsync_duration_seconds',
    'Time to sync records to disk.',
    labels,
    syncBounds,
  );
  /** A log that is opened again under its name replaces the earlier one. */
  const logs = new Map<string, OpenedLog>();
  const add = (type: 'counter' | 'gauge', name: string, help: string, read: (log: OpenedLog) => number) =>
    meters.reading(type, name, help, () => Array.from(logs, ([log, opened]) => [[log], read(opened)] as const), labels);
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
  add('gauge', 'signalbox_journal_writable', 'Whether records are stored (1) or refused (0).', ({ journal }) =>
    Number(journal.state().healthy),
  );
  return {
    at: (name: string) => ({ failures: failures.at(name), syncs: syncs.at(name) }),
    add: (name: string, title: string, journal: Journal): void => {
      logs.set(name, { title, journal, firstSeq: journal.state().lastSeq });
    },
    listUnwritable: (): UnwritableLog[] =>
      [...logs].flatMap(([name, { title, journal }]) => (journal.state().healthy ? [] : [{ title, name }])),
  };
};
