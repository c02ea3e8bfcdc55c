import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../storage/replace-file.ts';
import { maxBodyBytes, type OutgoingAlert } from './deliver.ts';
import { createStateFolder, findStateFolder } from './state-folder.ts';

/** Bounds of what is kept; the oldest alerts are dropped first. */
const mostAlerts = 1000;
const mostBytes = 16 * 1024 * 1024;

const name = 'spool';

/** An alert that could not be delivered. */
interface Undelivered {
  /** The server that it is for. */
  url: string;
  idempotencyKey: string;
  alert: OutgoingAlert;
}

/** One in the spool. */
export interface KeptAlert extends Undelivered {
  /** Deletes it, also if another sender has done so. */
  forget(): void;
}

/** Keeps an alert, whose message then says when it was sent. Returns how many older ones were dropped; throws an Error. */
export const keepAlert = ({ alert, ...others }: Undelivered, sentAt: Date): number => {
  const folder = createStateFolder(name);
  const late = { ...alert, message: `${alert.message}\n(sent late; it happened at ${sentAt.toISOString()})` };
  const isTooLong = Buffer.byteLength(JSON.stringify(late)) > maxBodyBytes;
  const kept: Undelivered = { ...others, alert: isTooLong ? alert : late };
  const order = String(sentAt.getTime()).padStart(16, '0');
  replaceFile(join(folder, `${order}-${randomUUID()}.json`), JSON.stringify(kept));
  return dropOldest(folder);
};

/** The alerts that are kept for a server, the oldest first. Each is read when it is its turn: others may deliver it before. */
export const listKeptAlerts = function* (url: string): Generator<KeptAlert> {
  const folder = findStateFolder(name);
  if (folder === undefined) return;
  for (const path of listFiles(folder)) {
    const kept = readAlert(path);
    if (kept?.url === url) yield { ...kept, forget: () => rmSync(path, { force: true }) };
  }
};

const listFiles = (folder: string): string[] => {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => join(folder, file));
  } catch {
    return [];
  }
};

/** Undefined if another sender has delivered it, or if somebody has edited it into something else. */
const readAlert = (path: string): Undelivered | undefined => {
  try {
    const { url, idempotencyKey, alert }: Undelivered = JSON.parse(readFileSync(path, 'utf8'));
    return typeof alert?.message === 'string' ? { url, idempotencyKey, alert } : undefined;
  } catch {
    return undefined;
  }
};

const dropOldest = (folder: string): number => {
  const files = listFiles(folder).map((path) => ({
    path,
    bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  }));
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let dropped = 0;
  for (const file of files) {
    if (files.length - dropped <= mostAlerts && bytes <= mostBytes) break;
    rmSync(file.path, { force: true });
    bytes -= file.bytes;
    dropped += 1;
  }
  return dropped;
};
