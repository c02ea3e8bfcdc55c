import { toTrace } from '../../../http/text-forms.ts';
import { formatOf, readTime } from '../../../kit/alert-record.ts';
import type { AlertDelivery } from '../../../kit/alert-source.ts';
import { toSeverity } from '../../../kit/severity.ts';
import { Slice } from '../../../lib/slice.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { Sender } from '../destinations/sender.ts';
import { toDelivered } from '../message/alert.ts';
import type { FindAlert } from '../message/find-alert.ts';
import { Destination, type DestinationParts } from '../queue/destination.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import { type Settled, unexpectedWaitMs } from '../queue/queue.ts';
import { createQueued, type Queued } from '../queue/waiting.ts';
import type { Accepts } from './filter.ts';
import { bySeq, type OpenAlert } from './progress.ts';
import { ReadRecords, readAlertsFrom } from './records.ts';

const defaultRepeatMinutes = 240;

interface ForwarderParts extends DestinationParts {
  instance: string;
  /** The same for all instances that share a database. */
  origin: string;
  accepts: Accepts;
  alerts: Pick<RecordLog, 'readAfter'>;
  findAlert: FindAlert;
  sender: Sender;
}

/** An alert of the log that is to be sent. */
interface Forwarded {
  id: string;
  /** The id of the first alert that says this, if it may come again. */
  series: string | undefined;
  /** Set if an administrator has asked for it, so that it is sent although it is no time for a repeat. */
  asked?: StoredRecord;
}

/** Sends the alerts of the log to one receiver: a cursor in the log, and a queue. */
export class Forwarder extends Destination<Forwarded> {
  /** After so many an alert that keeps coming is sent again; 0: never. */
  readonly repeatMinutes: number;
  readonly #parts: ForwarderParts;
  readonly #records: ReadRecords;
  /** The last seq that is in the log. */
  #stored: number;
  /** Open alerts that were not read since startup, or wait again; oldest first. */
  #unread: number[];
  #reading: Promise<void> | undefined;
  /** Runs while the log is not read because that has failed. */
  #pause: NodeJS.Timeout | undefined;

  constructor(parts: ForwarderParts) {
    super(parts);
    const { target, kept, alerts } = parts;
    this.#parts = parts;
    this.#records = new ReadRecords(alerts);
    this.repeatMinutes = target.settings.repeatMinutes ?? defaultRepeatMinutes;
    this.#stored = kept.progress.position;
    this.#unread = [...kept.progress.open.keys()].sort(bySeq);
  }

  /** When the oldest alert that waits was received. */
  get waitingSince(): number | undefined {
    return this.queue.waiting.oldest;
  }

  get lag(): number {
    return this.progress.countOpen(this.#stored);
  }

  protected get isDelivering(): boolean {
    return this.lag > 0;
  }

  /** What has become of an alert of the log. */
  describe(record: StoredRecord): AlertDelivery {
    const { parked, forgotten, start, open } = this.progress;
    const { reason: error = null } = parked.get(record.seq) ?? {};
    const { attempts = 0 } = open.get(record.seq) ?? {};
    const [firstParked = 0] = parked.keys();
    const toStatus = (): AlertDelivery['status'] => {
      if (error !== null) return 'parked';
      const isRepeat = record['repeatOf'] !== undefined;
      if (record.seq <= start || !this.#parts.accepts(record) || (isRepeat && this.repeatMinutes === 0))
        return 'skipped';
      if (!this.progress.isSettled(record.seq)) return 'waiting';
      return isRepeat || (forgotten > 0 && record.seq < firstParked) ? 'unknown' : 'delivered';
    };
    return { destination: this.name, status: toStatus(), attempts, error };
  }

  /** Whether the alert is parked or waits. */
  isOpen({ seq, id }: StoredRecord): boolean {
    const parked = this.progress.parked.get(seq);
    return parked ? parked.id === id : seq <= this.#stored && !this.progress.isSettled(seq);
  }

  /** New alerts are in the log. */
  noteStored(seq: number): void {
    this.#stored = seq;
    this.queue.advance();
  }

  /** The alerts up to the seq were deleted. */
  drop(seq: number): void {
    const { waiting } = this.queue;
    this.progress.drop(seq);
    for (const one of [...waiting.list()]) if (one.seq <= seq) waiting.remove(one);
    this.#parts.kept.save();
  }

  /** All parked alerts wait again; returns how many. */
  unparkAll(): number {
    const seqs = this.progress.unparkAll(this.now());
    this.#unread = [...this.#unread, ...seqs].sort(bySeq);
    this.#parts.kept.save();
    this.queue.advance();
    return seqs.length;
  }

  /** Sends an alert that is parked or waits once, whatever else waits; undefined if it is being sent already. */
  async retry(record: StoredRecord): Promise<DeliveryOutcome | undefined> {
    const one = this.queue.waiting.get(record.seq) ?? toQueued(record);
    one.message.asked = record;
    return this.queue.sendNow(one);
  }

  /** Reads on in the log: what is read decides which alert is next. */
  fill(): boolean {
    if (!this.#reading && this.#hasUnread && !this.#pause) this.#reading = this.#read();
    return this.#reading === undefined;
  }

  /** Sends an alert, unless it has said the same not long ago, or is not in the log any more. */
  async send({ seq, message }: Queued<Forwarded>): Promise<DeliveryOutcome | undefined> {
    const record = message.asked ?? this.#records.take(seq) ?? (await this.#records.read(seq));
    if (record?.id === message.id && (message.asked || this.#isDue(record))) return this.#send(record);
    if (record) this.progress.settle(seq);
    else this.progress.lose(seq);
    this.#parts.kept.save();
    return undefined;
  }

  override noteFailure({ seq, attempts, message }: Queued<Forwarded>): void {
    delete message.asked;
    const open = this.progress.open.get(seq);
    if (open) open.attempts = attempts;
  }

  async settle(one: Queued<Forwarded>, { isDelivered, result: reason }: Settled): Promise<void> {
    const { seq, message } = one;
    if (isDelivered) {
      if (message.series !== undefined) this.progress.noteSent(message.series, this.now());
      this.progress.parked.delete(seq);
      this.progress.settle(seq);
    } else this.progress.park(seq, { id: message.id, reason, time: this.#parts.clock().toISOString() });
    this.queue.waiting.remove(one);
  }

  override noteOutcome(outcome: DeliveryOutcome): void {
    // While nothing is accepted, memory is not used for it.
    if (this.receiver.isInTrouble) this.#records.clear();
    super.noteOutcome(outcome);
  }

  override report(err: unknown): void {
    this.#parts.log.error({ err, destination: this.name }, 'outbox: the alert log could not be read');
  }

  protected override async finish(): Promise<void> {
    clearTimeout(this.#pause);
    await Promise.all([super.finish(), this.#reading]);
  }

  get #hasUnread(): boolean {
    return !this.queue.waiting.isFull && (this.#unread.length > 0 || this.progress.position < this.#stored);
  }

  /** Reads until enough alerts wait, or to the end of the log. Never rejects. */
  async #read(): Promise<void> {
    try {
      while (this.#hasUnread && !this.queue.isClosed) {
        if (this.#unread.length > 0) await this.#readOpen();
        else await this.#readNew();
      }
    } catch (err) {
      this.report(err);
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        this.queue.advance();
      }, unexpectedWaitMs);
    }
    this.#reading = undefined;
    this.#parts.kept.save();
    this.queue.advance();
  }

  /** Reads alerts that were open at startup or wait again, as many as are close together. */
  async #readOpen(): Promise<void> {
    const { queue } = this;
    const [first = 0] = this.#unread;
    const records = await readAlertsFrom(this.#parts.alerts, first);
    const last = records.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
    const found = new Map(records.map((record) => [record.seq, record]));
    const slice = new Slice();
    while (!queue.isClosed && !queue.waiting.isFull && (this.#unread[0] ?? Number.POSITIVE_INFINITY) <= last) {
      const seq = this.#unread.shift() ?? 0;
      this.#takeOpen(seq, found.get(seq));
      // Filters can take long.
      if (slice.isOver) await slice.giveWay();
    }
  }

  #takeOpen(seq: number, record: StoredRecord | undefined): void {
    const { waiting } = this.queue;
    const open = this.progress.open.get(seq);
    // It was sent on request, or deleted.
    if (!open) return;
    // In a new log, another alert may have the seq.
    if (!record || (open.again && open.again.id !== record.id)) this.progress.lose(seq);
    else if (!this.#parts.accepts(record)) this.progress.settle(seq);
    else if (!waiting.has(seq)) waiting.add(toQueued(record, open));
  }

  /** Reads what was stored since. */
  async #readNew(): Promise<void> {
    const { alerts, accepts } = this.#parts;
    const { queue, progress } = this;
    const end = this.#stored;
    const slice = new Slice();
    for await (const records of alerts.readAfter(progress.position)) {
      for (const record of records) {
        // It was dropped while other work ran.
        if (record.seq <= progress.position) continue;
        if (progress.advance(record.seq, accepts(record))) queue.waiting.add(toQueued(record));
        if (queue.waiting.isFull) break;
        if (slice.isOver) await slice.giveWay();
        if (queue.isClosed) return;
      }
      if (!this.receiver.isInTrouble) this.#records.keep(records, queue.waiting);
      if (queue.isClosed || !this.#hasUnread || this.#unread.length > 0) return;
    }
    progress.advance(end, false);
  }

  /** Whether an alert that may come again is to be sent: if the one that was sent last is long ago. */
  #isDue({ repeatOf }: StoredRecord): boolean {
    if (repeatOf === undefined) return true;
    const passed = this.now() - (this.progress.sent.get(String(repeatOf)) ?? 0);
    // The clock was ahead when the last one was sent, or some time has passed.
    return this.repeatMinutes > 0 && (passed < 0 || passed >= Math.floor(this.repeatMinutes * 60_000));
  }

  /** Never rejects. */
  #send(record: StoredRecord): Promise<DeliveryOutcome> {
    const { instance, origin, sender } = this.#parts;
    return this.request(
      async () => {
        const ended = await this.#findEnded(record);
        const alert = toDelivered(record, instance, origin);
        if (ended) alert.ended = toDelivered(ended, instance, origin);
        return (await sender.send(alert, toTrace(record))).outcome;
      },
      { id: record.id },
    );
  }

  /** The alert that a record ends. An end is sent without it rather than not at all. */
  async #findEnded({ resolves }: StoredRecord): Promise<StoredRecord | undefined> {
    const { target, findAlert } = this.#parts;
    return target.type.knowsByLabels && typeof resolves === 'string' ? findAlert(resolves) : undefined;
  }
}

/** A record of the log as an alert that waits; `open` says how it was tried before. */
export const toQueued = (record: StoredRecord, { attempts, again }: OpenAlert = { attempts: 0 }): Queued<Forwarded> => {
  const { seq, id, sender, fingerprint, status, level, repeatOf } = record;
  const first = typeof repeatOf === 'string' ? repeatOf : id;
  return createQueued(
    {
      seq,
      message: { id, series: fingerprint === undefined ? undefined : first },
      receivedAt: readTime(record) ?? 0,
      askedAt: again?.at,
      isCritical: status !== 'resolved' && toSeverity(String(level)) === 'CRITICAL',
      key: typeof fingerprint === 'string' ? `${sender}\n${formatOf(record)}\n${fingerprint}` : undefined,
    },
    { attempts },
  );
};
