import type { FastifyBaseLogger } from 'fastify';
import { markResolved, toText } from '../../kit/alert-record.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { type AlertRecord, createAlert } from './alert.ts';
import type { FiringState } from './firing.ts';
import { type Heard, heardLookMs } from './heard.ts';
import type { HeardCopies } from './heard-copies.ts';
import { splitKey } from './intake/repeat-keys.ts';
import type { AlertIntake } from './intake/repeats.ts';

/** Milliseconds between two attempts to store the same end. */
const retryMs = 5000;

/** Milliseconds that work which has begun may hold up the end of the process. */
const closingMs = 1000;

interface EndParts {
  heard: Heard;
  copies: HeardCopies;
  firing: FiringState;
  journal: Pick<RecordLog, 'find' | 'state'>;
  intake: Pick<AlertIntake, 'store'>;
  lease: Lease;
  /** Resolves when `firing` knows what the log says. */
  whenRead(): Promise<void>;
  resolveTimeoutMs(): number;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Stores the end of alerts that their senders repeat while they fire, and have not repeated in time. One instance does. */
export class AlertEnds {
  readonly #parts: EndParts;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isBusy = false;
  #isClosed = false;
  #retryAt = 0;

  constructor(parts: EndParts) {
    this.#parts = parts;
  }

  /** Begins with what an earlier process has left. Never rejects. */
  async begin(): Promise<void> {
    const { copies, whenRead, log } = this.#parts;
    try {
      await copies.begin();
      await whenRead();
    } catch (err) {
      log.warn({ err }, 'alerts: it is not known what was heard before the start');
    }
    if (this.#isClosed) return;
    this.#learnAtStart();
    this.#timer = setInterval(() => this.#look(), heardLookMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await awaitWithin(closingMs, this.#working);
    await Promise.all([this.#parts.lease.close(), this.#parts.copies.close()]);
  }

  #look(): void {
    this.#parts.heard.look();
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    this.#working = this.#work().finally(() => {
      this.#isBusy = false;
    });
  }

  async #work(): Promise<void> {
    const { heard, copies, firing, lease, journal, log } = this.#parts;
    try {
      if (await copies.keep()) this.#learn();
      const isActing = lease.isHeld() && journal.state().healthy && performance.now() >= this.#retryAt;
      for (const series of heard.listEnded(copies.patienceMs)) {
        if (this.#isClosed) return;
        if (firing.state.findSeries(series)?.isResolved !== false) heard.forget(series);
        else if (isActing) await this.#end(series);
      }
    } catch (err) {
      this.#retryAt = performance.now() + retryMs;
      log.warn({ err }, 'alerts: the end of an alert that is no longer repeated cannot be stored yet');
    }
  }

  /** Alerts that other instances, or an earlier process, have stored. */
  #learn(): void {
    const { heard, firing, resolveTimeoutMs } = this.#parts;
    for (const { key, hold } of firing.state.listHeld())
      if (!heard.knows(key)) heard.learn(key, hold.ms ?? resolveTimeoutMs());
  }

  /**
   * After a start, each alert holds for what was left when the last process stopped, and at least `resolveTimeout`, or for as
   * long as its sender has given it.
   */
  #learnAtStart(): void {
    this.#learn();
    const { heard, firing, resolveTimeoutMs } = this.#parts;
    for (const { key, hold } of firing.state.listHeld()) {
      heard.learn(key, Math.min(hold.ms ?? resolveTimeoutMs(), resolveTimeoutMs()));
    }
  }

  async #end(series: string): Promise<void> {
    const { heard, copies, firing, journal, intake, clock } = this.#parts;
    const known = firing.state.findSeries(series);
    const record = known && (await journal.find(known.id));
    // It may have come again meanwhile; nothing else runs between this and the call that puts it in its place.
    if (!heard.hasEnded(series, copies.patienceMs)) return;
    heard.forget(series);
    if (!record) return;
    try {
      await intake.store([toEnd(record, clock())]);
    } catch (error) {
      heard.learn(series, 0);
      throw error;
    }
  }
}

/** The record that ends the alert of another. It has its key, so that the alert is no repeat when it comes again. */
const toEnd = (record: StoredRecord, now: Date): AlertRecord => {
  const { format, fingerprint, startsAt, labels, link, links, level, key } = record as StoredRecord & AlertRecord;
  const { hash } = splitKey(toText(key));
  const text = { source: toText(record['source']), hostname: toText(record['hostname']) };
  const end = createAlert(
    { ...text, level: 'INFO', message: markResolved(toText(record['message'])) },
    { now, sender: toText(record['sender']) },
  );
  return {
    ...end,
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
