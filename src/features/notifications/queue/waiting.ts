import { formatOf, readTime } from '../../../kit/alert-record.ts';
import { toSeverity } from '../../../kit/severity.ts';
import { bisect } from '../../../lib/bisect.ts';
import { createSerial } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

/** More alerts stay in the log until there is room. */
const capacity = 10_000;

/** An alert that is to be sent. */
export interface QueuedAlert {
  readonly seq: number;
  readonly id: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly isCritical: boolean;
  /** Alerts with one key are sent in the order of the log; undefined if it has no others. */
  readonly key: string | undefined;
  /** Failed attempts. */
  attempts: number;
  /** How often it was rejected, since startup. */
  rejections: number;
  /** When it was first tried in vain, or held back, since startup; Unix milliseconds. */
  failingSince?: number;
  /** Failed attempts that may be about this alert, since the receiver last recovered. */
  suspicion: number;
  /** When it may be tried again, by the monotonic clock. */
  dueAt: number;
  /** Attempts without a response: the receiver may have it, so it is not tried before it is due. */
  unanswered: number;
  /** It was tried before it was due; that is done once between two regular attempts. */
  isEarly: boolean;
  /** `ready`: may be sent. `later`: is not due. `behind`: an older alert has its key. */
  state: 'ready' | 'later' | 'behind' | 'running';
}

type New = Pick<QueuedAlert, 'seq' | 'id' | 'receivedAt' | 'isCritical' | 'key'>;

/** One that has just begun to wait, or has failed as the given one has. */
export const createWaiting = (one: New, tried: Partial<QueuedAlert> = {}): QueuedAlert => ({
  attempts: 0,
  rejections: 0,
  suspicion: 0,
  unanswered: 0,
  ...tried,
  ...one,
  dueAt: 0,
  isEarly: false,
  state: 'ready',
});

/** A record of the log as an alert that waits. */
export const toWaiting = (record: StoredRecord, attempts: number): QueuedAlert => {
  const { seq, id, sender, fingerprint, status, level } = record;
  return createWaiting(
    {
      seq,
      id,
      receivedAt: readTime(record) ?? 0,
      isCritical: status !== 'resolved' && toSeverity(String(level)) === 'CRITICAL',
      key: typeof fingerprint === 'string' ? `${sender}\n${formatOf(record)}\n${fingerprint}` : undefined,
    },
    { attempts },
  );
};

/**
 * The first alerts of the log that a destination has not finished with, and which of them is next: the newest critical one,
 * or else the oldest one, but no alert before an older one with its key.
 */
export class WaitingAlerts {
  readonly #alerts = new Map<number, QueuedAlert>();
  /** Alerts with one key, the oldest first. */
  readonly #chains = new Map<string, QueuedAlert[]>();
  /** Those that may be sent now, in that order. */
  readonly #ready: QueuedAlert[] = [];
  readonly #later = new Set<QueuedAlert>();
  #isFull = false;

  get size(): number {
    return this.#alerts.size;
  }

  /** Once full, it takes no more until half of the room is free. */
  get isFull(): boolean {
    const { size } = this.#alerts;
    if (size >= capacity) this.#isFull = true;
    else if (size <= capacity / 2) this.#isFull = false;
    return this.#isFull;
  }

  /** When the first of those that are not due will be; undefined if there is none. */
  get nextDueAt(): number | undefined {
    let next: number | undefined;
    for (const { dueAt } of this.#later) next = Math.min(next ?? dueAt, dueAt);
    return next;
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  has(seq: number): boolean {
    return this.#alerts.has(seq);
  }

  get(seq: number): QueuedAlert | undefined {
    return this.#alerts.get(seq);
  }

  list(): IterableIterator<QueuedAlert> {
    return this.#alerts.values();
  }

  add(alert: QueuedAlert): void {
    this.#alerts.set(alert.seq, alert);
    const { key } = alert;
    if (key !== undefined) {
      const chain = this.#chains.get(key);
      if (chain) this.#join(chain, alert);
      else this.#chains.set(key, [alert]);
    }
    if (alert.state === 'ready') this.#makeReady(alert);
  }

  /** The alert that is next at `now`; it counts as running from then on. */
  take(now: number): QueuedAlert | undefined {
    for (const alert of this.#later) if (alert.dueAt <= now) this.#makeReady(alert);
    const next = this.#ready.shift();
    if (next) next.state = 'running';
    return next;
  }

  /** The alert counts as running, although it may not be its turn. */
  begin(alert: QueuedAlert): void {
    this.#withdraw(alert);
    alert.state = 'running';
  }

  /** The alert was tried and waits again. */
  release(alert: QueuedAlert, now: number): void {
    if (this.#alerts.get(alert.seq) !== alert) return;
    const head = alert.key === undefined ? alert : this.#chains.get(alert.key)?.[0];
    if (head !== alert) {
      alert.state = 'behind';
      if (head?.state === 'behind') this.#makeReady(head);
    } else if (alert.dueAt > now) {
      alert.state = 'later';
      this.#later.add(alert);
    } else this.#makeReady(alert);
  }

  /** The alert no longer waits. */
  remove(alert: QueuedAlert): void {
    if (!this.#alerts.delete(alert.seq)) return;
    this.#withdraw(alert);
    const { key } = alert;
    const chain = key === undefined ? undefined : this.#chains.get(key);
    if (key === undefined || !chain) return;
    chain.splice(chain.indexOf(alert), 1);
    const [next] = chain;
    if (!next) this.#chains.delete(key);
    else if (next.state === 'behind') this.#makeReady(next);
  }

  /** Alerts that are not due may be tried now: all of them, or those that were not tried early already. */
  hurry({ all }: { all: boolean }): void {
    for (const alert of this.#ready) alert.suspicion = 0;
    this.#ready.sort(compareTurns);
    for (const alert of this.#later) {
      if ((alert.isEarly || alert.unanswered > 0) && !all) continue;
      alert.isEarly = true;
      alert.suspicion = 0;
      this.#makeReady(alert);
    }
  }

  #makeReady(alert: QueuedAlert): void {
    this.#later.delete(alert);
    alert.state = 'ready';
    this.#ready.splice(findPlace(this.#ready, alert), 0, alert);
  }

  #withdraw(alert: QueuedAlert): void {
    this.#later.delete(alert);
    if (alert.state !== 'ready') return;
    const place = findPlace(this.#ready, alert);
    if (this.#ready[place] === alert) this.#ready.splice(place, 1);
  }

  /** Behind the older alerts of its key. */
  #join(chain: QueuedAlert[], alert: QueuedAlert): void {
    const newer = chain.findIndex(({ seq }) => seq > alert.seq);
    const place = newer < 0 ? chain.length : newer;
    const [head] = chain;
    chain.splice(place, 0, alert);
    if (place > 0 || head?.state === 'running') alert.state = 'behind';
    else if (head) {
      this.#withdraw(head);
      head.state = 'behind';
    }
  }
}

/**
 * Those under suspicion come last, the ones that have failed least before others; of equal ones the newest critical one is
 * first, then the oldest of the others.
 */
const compareTurns = (one: QueuedAlert, other: QueuedAlert): number =>
  one.suspicion - other.suspicion ||
  Number(other.isCritical) - Number(one.isCritical) ||
  (one.isCritical ? other.seq - one.seq : one.seq - other.seq);

/** The index of the alert in the list, or where it belongs. */
const findPlace = (list: readonly QueuedAlert[], alert: QueuedAlert): number => {
  const isBefore = (one: QueuedAlert): boolean => compareTurns(one, alert) < 0;
  const last = list.at(-1);
  // Nearly always, it is the last one.
  return !last || isBefore(last) ? list.length : bisect(list, isBefore);
};

type ReadableAlerts = Pick<RecordLog, 'readAfter'>;

/** The record with the seq, or the next one, and some after it; none at the end of the log. */
export const readAlertsFrom = async (alerts: ReadableAlerts, seq: number): Promise<readonly StoredRecord[]> => {
  for await (const records of alerts.readAfter(seq - 1)) return records;
  return [];
};

/** As many records are kept, which take up so many blocks of 64 KiB. */
const mostKept = { records: 10_000, blocks: 128 };

/** Records that were read before their turn, so that nearly none is read twice. */
export class ReadRecords {
  readonly #alerts: ReadableAlerts;
  readonly #serially = createSerial();
  readonly #kept = new Map<number, StoredRecord>();
  /** Of those that were taken, the average counts. */
  #blocks = 0;
  /** The block that was read last for one of its records. */
  #block = new Map<number, StoredRecord>();

  constructor(alerts: ReadableAlerts) {
    this.#alerts = alerts;
  }

  /** Keeps those of a block that wait. */
  keep(records: readonly StoredRecord[], waiting: WaitingAlerts): void {
    if (this.#kept.size >= mostKept.records || this.#blocks >= mostKept.blocks) return;
    for (const record of records) if (waiting.has(record.seq)) this.#kept.set(record.seq, record);
    this.#blocks = this.#kept.size === 0 ? 0 : this.#blocks + 1;
  }

  clear(): void {
    this.#kept.clear();
    this.#blocks = 0;
  }

  /** The record, if it is in memory; it is not kept for longer. */
  take(seq: number): StoredRecord | undefined {
    const record = this.#kept.get(seq);
    if (record) {
      this.#blocks -= this.#blocks / this.#kept.size;
      this.#kept.delete(seq);
    }
    return record ?? this.#block.get(seq);
  }

  /** The record, or undefined if it is not in the log. */
  read(seq: number): Promise<StoredRecord | undefined> {
    return this.#serially(async () => {
      // An attempt before this one may have read it.
      if (!this.#block.has(seq)) {
        const records = await readAlertsFrom(this.#alerts, seq);
        this.#block = new Map(records.map((record) => [record.seq, record]));
      }
      return this.#block.get(seq);
    });
  }
}
