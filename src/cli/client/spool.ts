import { randomUUID } from 'node:crypto';
import { say } from '../messages.ts';
import { maxBodyBytes, type OutgoingAlert } from './deliver.ts';
import { StateFolder, tolerate } from './state-folder.ts';

/** An alert that could not be delivered. */
interface Undelivered {
  /** The server that it is for. */
  url: string;
  idempotencyKey: string;
  alert: OutgoingAlert;
}

/** One in the spool. */
interface KeptAlert extends Undelivered {
  /** Deletes it, also if another sender has done so. */
  forget(): void;
}

const spool = new StateFolder('spool');

/** Keeps an alert, whose message then says when it was sent. Returns how many older ones were dropped; throws an Error. */
export const keepAlert = ({ alert, ...others }: Undelivered, sentAt: Date): number => {
  const late = { ...alert, message: `${alert.message}\n(sent late; it happened at ${sentAt.toISOString()})` };
  const kept: Undelivered = { ...others, alert: isTooLong(late) ? alert : late };
  const order = String(sentAt.getTime()).padStart(16, '0');
  return spool.write(`${order}-${randomUUID()}.json`, JSON.stringify(kept));
};

/**
 * The alerts that are kept for a server, the oldest first. Each is read when it is its turn: others may deliver it before.
 * Never throws; a file that can never be delivered gets the ending `.bad`.
 */
export const listKeptAlerts = function* (url: string): Generator<KeptAlert> {
  for (const file of tolerate('kept alerts are not delivered', () => spool.list()) ?? []) {
    if (!file.endsWith('.json')) continue;
    const text = tolerate('a kept alert is not delivered', () => spool.read(file));
    if (text === undefined) continue;
    const kept = parse(text);
    if (kept?.url === url) {
      yield { ...kept, forget: () => tolerate('a kept alert will be sent again', () => spool.remove(file)) };
    } else if (kept === undefined) {
      tolerate('a kept file is not an alert', () =>
        say(`a kept file is not an alert: it is now ${spool.setAside(file)}`),
      );
    }
  }
};

/** Undefined for a text that was not written here. */
const parse = (text: string): Undelivered | undefined => {
  try {
    const { url, idempotencyKey, alert }: Undelivered = JSON.parse(text);
    const isValid =
      typeof url === 'string' && typeof alert.message === 'string' && /^[0-9a-f-]{36}$/.test(idempotencyKey);
    return isValid && !isTooLong(alert) ? { url, idempotencyKey, alert } : undefined;
  } catch {
    return undefined;
  }
};

const isTooLong = (alert: OutgoingAlert): boolean => Buffer.byteLength(JSON.stringify(alert)) > maxBodyBytes;
