import type { FastifyBaseLogger } from 'fastify';
import { SettingsError } from '../config/settings-error.ts';
import type { OpenLog } from '../profiles/feature.ts';
import type { JournalError } from '../storage/journal/errors.ts';
import type { JournalEvent } from '../storage/journal/events.ts';
import { openJournal } from '../storage/journal/journal.ts';

/** Opens durable logs in the data directory; their events are logged. */
export const createLogOpener =
  (directory: string, log: FastifyBaseLogger): OpenLog =>
  (title, options) =>
    openJournal({
      ...options,
      directory,
      report: (event) => log.warn(toDetails(event), `${title}: ${event.type}`),
    }).catch(({ code, message }: JournalError) => {
      throw new SettingsError([
        `dataDir: ${message}${code === 'locked' ? '; stop it, or' : ';'} choose another folder with --data-dir`,
      ]);
    });

/** The event's details; an error is called `err`, the name that pino serializes in full. */
const toDetails = (event: JournalEvent): object => {
  const { type, ...details } = event;
  return type === 'failed' ? { err: event.error } : details;
};
