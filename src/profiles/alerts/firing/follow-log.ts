import type { RecordLog } from '../../../storage/record-log.ts';
import type { Concern } from '../../feature.ts';
import type { FiringAlerts } from './firing-alerts.ts';

/** How many of the log's last records are read on startup. */
const tailCount = 20_000;

/** Keeps what fires up to date with a log that other instances write, too. */
export class LogFollower {
  readonly #log: Pick<RecordLog, 'readAfter' | 'onStored' | 'state' | 'refresh'>;
  readonly #firing: FiringAlerts;
  /** The last record that was taken over; undefined until the log was reached. */
  #read: number | undefined;
  #reading: Promise<void> | undefined;
  readonly #stop: () => void;
  #isClosed = false;

  constructor(log: Pick<RecordLog, 'readAfter' | 'onStored' | 'state' | 'refresh'>, firing: FiringAlerts) {
    this.#log = log;
    this.#firing = firing;
    this.#stop = log.onStored(() => void this.#readOn());
    void this.#readOn();
  }

  /** Resolves when everything was taken over that is stored now, as far as the log can be read. */
  async catchUp(): Promise<void> {
    await this.#log.refresh?.();
    await this.#reading;
    await this.#readOn();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#reading;
  }

  #readOn(): Promise<void> {
    // What cannot be read now is read when the next record is stored.
    this.#reading ??= this.#readNew()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    for (;;) {
      const { lastSeq } = this.#log.state();
      if (lastSeq === undefined || this.#isClosed) return;
      this.#read ??= Math.max(0, lastSeq - tailCount);
      if (this.#read >= lastSeq) return;
      for await (const records of this.#log.readAfter(this.#read)) {
        if (this.#isClosed) return;
        for (const record of records) this.#firing.add(record);
        this.#read = records.at(-1)?.seq ?? this.#read;
      }
      this.#read = Math.max(this.#read, lastSeq);
    }
  }
}

/** What of the alerts needs somebody's attention now, the worst first; warnings and less do not. */
export const findAlertConcerns = (firing: FiringAlerts): Concern[] =>
  (['CRITICAL', 'ERROR'] as const).flatMap((severity) => {
    const alerts = (count: number): string => `${count} ${severity.toLowerCase()} alert${count === 1 ? '' : 's'}`;
    const [fires, events] = [firing.countFiring(severity), firing.countEvents(severity)];
    const texts = [
      ...(fires > 0 ? [`${alerts(fires)} ${fires === 1 ? 'is' : 'are'} firing`] : []),
      ...(events > 0 ? [`${alerts(events)} in the last hour`] : []),
    ];
    return texts.map((text): Concern => ({ area: 'alerts', severity, text }));
  });
