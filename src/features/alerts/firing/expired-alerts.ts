import type { FastifyBaseLogger } from 'fastify';
import { markResolved, toText } from '../../../kit/alert-record.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { type AlertRecord, createAlert } from '../alert.ts';
import type { AlertStore } from '../log/alert-store.ts';
import { splitRepeatId } from '../log/first-alerts.ts';
import type { FiringState } from './firing-alerts.ts';
import type { ReceiptCopies } from './receipt-copies.ts';
import { type ReceiptTimes, tickMs } from './receipt-times.ts';

/** Milliseconds before a resolution that could not be written is retried. */
const retryMs = 5000;

/** Maximum milliseconds by which unfinished work may delay the exit of the process. */
const closingMs = 1000;

interface ExpiryParts {
  times: ReceiptTimes;
  copies: ReceiptCopies;
  firing: FiringState;
  journal: Pick<RecordLog, 'find' | 'state'>;
  store: Pick<AlertStore, 'appendNew'>;
  /** Lease held by the instance that resolves expired alerts. */
  lease: Lease;
  /** Resolves once `firing` has caught up with the log. */
  whenRead(): Promise<void>;
  resolveTimeoutMs(): number;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Resolves alerts that their senders no longer repeat. If there are several instances, only the holder of the lease
 * does so.
 */
export class ExpiredAlerts {
  readonly #parts: ExpiryParts;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isBusy = false;
  #isClosed = false;
  #retryAt = 0;

  constructor(parts: ExpiryParts) {
    this.#parts = parts;
  }

  /** Loads the receipt times that earlier processes stored, then starts to resolve alerts. Never rejects. */
  async begin(): Promise<void> {
    const { copies, whenRead, log } = this.#parts;
    try {
      await copies.begin();
      await whenRead();
    } catch (err) {
      log.warn({ err }, 'alerts: receipt times from before startup cannot be loaded');
    }
    if (this.#isClosed) return;
    this.#extendAtStart();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await awaitWithin(closingMs, this.#working);
    await Promise.all([this.#parts.lease.close(), this.#parts.copies.close()]);
  }

  #tick(): void {
    this.#parts.times.tick();
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    this.#working = this.#work().finally(() => {
      this.#isBusy = false;
    });
  }

  async #work(): Promise<void> {
    const { times, copies, firing, lease, journal, log } = this.#parts;
    try {
      if (await copies.sync()) this.#addUnknown();
      const isActing = lease.isHeld() && journal.state().healthy && performance.now() >= this.#retryAt;
      for (const series of times.listExpired(copies.graceMs)) {
        if (this.#isClosed) return;
        if (firing.state.findSeries(series)?.isResolved !== false) times.forget(series);
        else if (isActing) await this.#resolve(series);
      }
    } catch (err) {
      this.#retryAt = performance.now() + retryMs;
      log.warn({ err }, 'alerts: the resolution of an expired alert cannot be stored yet');
    }
  }

  /** Adds alerts stored by other instances or by an earlier process. */
  #addUnknown(): void {
    const { times, firing, resolveTimeoutMs } = this.#parts;
    for (const { key, expiry } of firing.state.listExpiring())
      if (!times.has(key)) times.extend(key, expiry.ms ?? resolveTimeoutMs());
  }

  /** Gives each alert more time after startup: at least `resolveTimeout`, or its sender's time if that is shorter. */
  #extendAtStart(): void {
    this.#addUnknown();
    const { times, firing, resolveTimeoutMs } = this.#parts;
    for (const { key, expiry } of firing.state.listExpiring()) {
      times.extend(key, Math.min(expiry.ms ?? resolveTimeoutMs(), resolveTimeoutMs()));
    }
  }

  async #resolve(series: string): Promise<void> {
    const { times, copies, firing, journal, store, clock } = this.#parts;
    const known = firing.state.findSeries(series);
    const record = known && (await journal.find(known.id));
    // The alert may have been repeated in the meantime. Nothing else runs between this check and the write.
    if (!times.hasExpired(series, copies.graceMs)) return;
    times.forget(series);
    if (!record) return;
    try {
      await store.appendNew([toResolution(record, clock())]);
    } catch (error) {
      times.extend(series, 0);
      throw error;
    }
  }
}

/**
 * Creates the resolution of an expired alert. The resolution has the key of the alert, so that the alert does not count
 * as a repeat when it fires again.
 */
const toResolution = (record: StoredRecord, now: Date): AlertRecord => {
  const { format, fingerprint, startsAt, labels, link, links, level, key } = record as StoredRecord & AlertRecord;
  const { hash } = splitRepeatId(toText(key));
  const text = { source: toText(record['source']), hostname: toText(record['hostname']) };
  const resolution = createAlert(
    { ...text, level: 'INFO', message: markResolved(toText(record['message'])) },
    { now, sender: toText(record['sender']) },
  );
  return {
    ...resolution,
    ...(format !== undefined && { format }),
    status: 'resolved',
    ...(fingerprint !== undefined && { fingerprint }),
    startsAt: startsAt ?? null,
    endsAt: now.toISOString(),
    ...(labels !== undefined && { labels }),
    ...(link !== undefined && { link }),
    ...(links !== undefined && { links }),
    firingLevel: toText(level),
    ...(hash !== '' && { key: `${hash}:resolved ${toText(level)}` }),
    expired: true,
  };
};
