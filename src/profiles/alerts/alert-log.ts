import { SettingsError } from '../../config/settings-error.ts';
import type { JournalEvent } from '../../storage/journal/events.ts';
import { type Journal, openJournal } from '../../storage/journal/journal.ts';
import type { JournalError } from '../../storage/journal/journal-error.ts';
import type { AlertSettings } from './settings.ts';

/** The part of the program's log that is used here. */
export interface Log {
  warn(details: object, message: string): void;
}

/** Opens the alert log. @throws SettingsError where the data directory cannot be used */
export const openAlertLog = (directory: string, settings: AlertSettings, log: Log): Promise<Journal> =>
  openJournal({
    directory,
    name: 'alerts',
    segmentBytes: settings.alertsSegmentBytes,
    retainSegments: settings.alertsRetainSegments,
    retainBytes: settings.alertsRetainBytes,
    retainDays: settings.alertsRetainDays,
    queueCount: settings.alertsQueueCount,
    queueBytes: settings.alertsQueueBytes,
    minFreeBytes: settings.alertsMinFreeBytes,
    sync: settings.alertsSync,
    report: (event) => log.warn(toDetails(event), `alert log: ${event.type}`),
  }).catch(({ message }: JournalError) => {
    throw new SettingsError([`dataDir: ${message}`]);
  });

/** The event's details; an error under the name that the program's log writes whole. */
const toDetails = (event: JournalEvent): object => {
  const { type: _, ...details } = event;
  if (!('error' in details)) return details;
  const { error, ...others } = details;
  return { ...others, err: error };
};
