import type { AlertLog, AlertLogParts } from './alert-log.ts';
import { openFileLog } from './file-log.ts';
import { openSharedLog } from './shared-log.ts';

/** Opens the log in the shared database. Without a database, opens the log in files on this machine. */
export const openAlertLog = (parts: AlertLogParts): Promise<AlertLog> => {
  const { database } = parts.storage;
  return database ? openSharedLog(parts, database) : openFileLog(parts);
};
