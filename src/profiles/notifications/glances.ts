import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { type Severity, toSeverity } from '../severity.ts';

const mostCharacters = 500;

/** What lists show of an alert. */
export interface Glance {
  severity: Severity | null;
  source: string | null;
  message: string | null;
}

/** An alert of the log; another log may have another one with its seq. */
export interface Place {
  seq: number;
  id: string;
}

const unknown: Glance = { severity: null, source: null, message: null };

/** What the log says of alerts that are listed again and again: it is read once, and remembered while they are listed. */
export class Glances {
  readonly #alerts: Pick<RecordLog, 'readAfter'> | undefined;
  #known = new Map<string, Glance>();

  constructor(alerts: Pick<RecordLog, 'readAfter'> | undefined) {
    this.#alerts = alerts;
  }

  /** Remembers these alerts and no others. While the log cannot be read, nothing new is known. */
  async look(places: readonly Place[]): Promise<void> {
    const known = new Map(places.flatMap(({ id }) => this.#entryOf(id)));
    this.#known = known;
    const missing = places.filter(({ id }) => !known.has(id)).sort((one, other) => one.seq - other.seq);
    await this.#read(missing, known).catch(() => undefined);
  }

  of(id: string): Glance {
    return this.#known.get(id) ?? unknown;
  }

  #entryOf(id: string): [string, Glance][] {
    const glance = this.#known.get(id);
    return glance ? [[id, glance]] : [];
  }

  async #read(missing: readonly Place[], known: Map<string, Glance>): Promise<void> {
    const ids = new Map(missing.map(({ seq, id }) => [seq, id]));
    let last = 0;
    for (const { seq } of missing) {
      if (seq <= last) continue;
      for await (const records of this.#alerts?.readAfter(seq - 1) ?? []) {
        for (const record of records) if (ids.get(record.seq) === record.id) known.set(record.id, toGlance(record));
        last = records.at(-1)?.seq ?? seq;
        break;
      }
    }
    // These are not in the log.
    for (const { id } of missing) if (!known.has(id)) known.set(id, unknown);
  }
}

const toGlance = ({ level, source, message }: StoredRecord): Glance => ({
  severity: toSeverity(String(level)),
  source: String(source),
  message: String(message).slice(0, mostCharacters),
});
