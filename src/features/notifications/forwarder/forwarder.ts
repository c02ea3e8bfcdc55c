import { toTrace } from '../../../http/text-forms.ts';
import type { AlertDelivery } from '../../../kit/alert-source.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { toDelivered } from '../message/alert.ts';
import type { FindAlert } from '../message/find-alert.ts';
import { Destination, type DestinationParts } from '../queue/destination.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import type { Settled } from '../queue/queue.ts';
import type { Accepts } from './filter.ts';
import { LogReader } from './log-reader.ts';
import { type ForwardedAlert, type QueuedAlert, toQueuedAlert } from './queued-alert.ts';

const defaultRepeatMinutes = 240;

interface ForwarderParts extends DestinationParts {
  instance: string;
  /** Server id. All instances with the same database share it. */
  origin: string;
  accepts: Accepts;
  alerts: Pick<RecordLog, 'readAfter'>;
  findAlert: FindAlert;
}

/** Destination that gets every alert accepted by its filter. Consists of a cursor in the log and a queue. */
export class Forwarder extends Destination<ForwardedAlert> {
  /** Minimum minutes between two deliveries of a repeated alert. 0 disables repeats. */
  readonly repeatMinutes: number;
  readonly #parts: ForwarderParts;
  readonly #reader: LogReader;

  constructor(parts: ForwarderParts) {
    super(parts);
    const { alerts, accepts, kept, definition } = parts;
    this.#parts = parts;
    this.repeatMinutes = definition.settings.repeatMinutes ?? defaultRepeatMinutes;
    this.#reader = new LogReader({
      alerts,
      accepts,
      progress: this.progress,
      queue: this.queue,
      health: this.health,
      onRead: () => {
        kept.save();
        this.queue.advance();
      },
      onError: (err) => this.report(err),
    });
  }

  /** Receipt time of the oldest waiting alert, in Unix milliseconds. */
  get waitingSince(): number | undefined {
    return this.queue.waiting.oldest;
  }

  get lag(): number {
    return this.progress.countOpen(this.#reader.stored);
  }

  protected get isDelivering(): boolean {
    return this.lag > 0;
  }

  /** Returns the delivery status of an alert in the log. */
  describe(record: StoredRecord): AlertDelivery {
    const { parked, forgotten, start, open } = this.progress;
    const { reason: error = null } = parked.get(record.seq) ?? {};
    const { attempts = 0 } = open.get(record.seq) ?? {};
    const [firstGivenUp = 0] = parked.keys();
    const toStatus = (): AlertDelivery['status'] => {
      if (error !== null) return 'parked';
      const isRepeat = record['repeatOf'] !== undefined;
      if (record.seq <= start || !this.#parts.accepts(record) || (isRepeat && this.repeatMinutes === 0))
        return 'skipped';
      if (!this.progress.isSettled(record.seq)) return 'waiting';
      return isRepeat || (forgotten > 0 && record.seq < firstGivenUp) ? 'unknown' : 'delivered';
    };
    return { destination: this.name, status: toStatus(), attempts, error };
  }

  /** True if the alert is given up or waiting. */
  isOpen({ seq, id }: StoredRecord): boolean {
    const parked = this.progress.parked.get(seq);
    return parked ? parked.id === id : seq <= this.#reader.stored && !this.progress.isSettled(seq);
  }

  /** Reads and sends the alerts in the log whose seq is at most `seq`. */
  noteStored(seq: number): void {
    this.#reader.stored = seq;
    this.queue.advance();
  }

  /** Counts and removes open alerts whose seq is at most `seq`. Called after these alerts were deleted from the log. */
  drop(seq: number): void {
    const { waiting } = this.queue;
    this.progress.drop(seq);
    for (const one of [...waiting.list()]) if (one.seq <= seq) waiting.remove(one);
    this.#parts.kept.save();
  }

  /** Sends all given-up alerts again and returns their number. */
  unparkAll(): number {
    const seqs = this.progress.unparkAll(this.now());
    this.#reader.readAgain(seqs);
    this.#parts.kept.save();
    this.queue.advance();
    return seqs.length;
  }

  /**
   * Sends a given-up or waiting alert now, ahead of all others. Resolves to undefined if the alert is already being sent.
   */
  async retry(record: StoredRecord): Promise<DeliveryOutcome | undefined> {
    const one = this.queue.waiting.get(record.seq) ?? toQueuedAlert(record);
    one.content.asked = record;
    return this.queue.sendNow(one);
  }

  fill(): boolean {
    return this.#reader.start();
  }

  /** Sends an alert. Skips an alert that has been deleted from the log, and a repeat that is not due yet. */
  async send({ seq, content }: QueuedAlert): Promise<DeliveryOutcome | undefined> {
    const record = content.asked ?? (await this.#reader.find(seq));
    if (record?.id === content.id && (content.asked || this.#isDue(record))) return this.#send(record);
    if (record) this.progress.settle(seq);
    else this.progress.lose(seq);
    this.#parts.kept.save();
    return undefined;
  }

  override noteFailure({ seq, attempts, content }: QueuedAlert): void {
    delete content.asked;
    const open = this.progress.open.get(seq);
    if (open) open.attempts = attempts;
  }

  async settle(one: QueuedAlert, { isDelivered, result: reason }: Settled): Promise<void> {
    const { seq, content } = one;
    if (isDelivered) {
      if (content.series !== undefined) this.progress.noteSent(content.series, this.now());
      this.progress.parked.delete(seq);
      this.progress.settle(seq);
    } else this.progress.giveUp(seq, { id: content.id, reason, time: this.#parts.clock().toISOString() });
    this.queue.waiting.remove(one);
  }

  override noteOutcome(outcome: DeliveryOutcome): void {
    if (this.health.isInTrouble) this.#reader.freeMemory();
    super.noteOutcome(outcome);
  }

  override report(err: unknown): void {
    this.#parts.log.error({ err, destination: this.name }, 'outbox: the alert log could not be read');
  }

  protected override async finish(): Promise<void> {
    await Promise.all([super.finish(), this.#reader.close()]);
  }

  /** False for a repeat that was last delivered less than `repeatMinutes` ago. */
  #isDue({ repeatOf }: StoredRecord): boolean {
    if (repeatOf === undefined) return true;
    const passed = this.now() - (this.progress.sent.get(String(repeatOf)) ?? 0);
    // A negative value means that the clock was ahead at the last delivery.
    return this.repeatMinutes > 0 && (passed < 0 || passed >= Math.floor(this.repeatMinutes * 60_000));
  }

  /** Sends the alert in a record. Never rejects. */
  #send(record: StoredRecord): Promise<DeliveryOutcome> {
    const { instance, origin, transport } = this.#parts;
    return this.request(
      async () => {
        const ended = await this.#findEnded(record);
        const alert = toDelivered(record, instance, origin);
        if (ended) alert.ended = toDelivered(ended, instance, origin);
        return (await transport.send(alert, toTrace(record))).outcome;
      },
      { id: record.id },
    );
  }

  /**
   * Resolves to the alert that a record resolves. Undefined if the receiver does not need its labels, or if the alert
   * is no longer in the log.
   */
  async #findEnded({ resolves }: StoredRecord): Promise<StoredRecord | undefined> {
    const { definition, findAlert } = this.#parts;
    return definition.type.knowsByLabels && typeof resolves === 'string' ? findAlert(resolves) : undefined;
  }
}
