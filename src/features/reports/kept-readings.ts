import type { ReportedReadings } from '../../kit/host-report/report-schema.ts';
import { isObject, parseJson } from '../../lib/parse-json.ts';
import { minuteMs } from '../../lib/units.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';

/** Maximum number of minutes kept: 24 hours. */
const mostMinutes = 1440;

/** Readings for one minute. */
export interface KeptMinute {
  time: string;
  readings: ReportedReadings;
}

/** Readings that the hub has not received yet. They are on disk as one-minute means, oldest first. */
export class KeptReadings {
  readonly #file: ReplacedFile;
  #minutes: KeptMinute[] = [];
  /** Undelivered readings of the current minute. */
  #current: { minute: number; readings: ReportedReadings[] } | undefined;

  constructor(file: ReplacedFile) {
    this.#file = file;
  }

  async load(): Promise<void> {
    const stored = parseJson(String((await this.#file.read()) ?? ''));
    if (Array.isArray(stored)) this.#minutes = stored.filter(isMinute).slice(-mostMinutes);
  }

  get count(): number {
    return this.#minutes.length;
  }

  /** Stores undelivered readings. Resolves once all earlier minutes are on disk. */
  async add(time: number, readings: ReportedReadings): Promise<void> {
    const minute = Math.floor(time / minuteMs);
    const isNext = this.#current !== undefined && this.#current.minute !== minute;
    if (isNext) await this.flush();
    this.#current ??= { minute, readings: [] };
    this.#current.readings.push(readings);
  }

  /** Writes everything to disk, including the current minute. */
  async flush(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    if (!current) return;
    const time = new Date(current.minute * minuteMs).toISOString();
    this.#minutes = [...this.#minutes, { time, readings: toMeans(current.readings) }].slice(-mostMinutes);
    await this.#write();
  }

  /** Returns the oldest minutes, at most `count`. */
  first(count: number): KeptMinute[] {
    return this.#minutes.slice(0, count);
  }

  /** Removes minutes that have been delivered. */
  async remove(delivered: readonly KeptMinute[]): Promise<void> {
    if (delivered.length === 0) return;
    this.#minutes = this.#minutes.filter((each) => !delivered.includes(each));
    await this.#write();
  }

  #write(): Promise<void> {
    return this.#file.write(Buffer.from(JSON.stringify(this.#minutes)));
  }
}

const isMinute = (value: unknown): value is KeptMinute =>
  isObject(value) && typeof value['time'] === 'string' && isObject(value['readings']);

/** Returns the means of several readings. The disks are those of the last reading. */
const toMeans = (all: readonly ReportedReadings[]): ReportedReadings => {
  const last = all.at(-1) ?? {};
  const means: Record<string, unknown> = {};
  for (const name of new Set(all.flatMap((each) => Object.keys(each)))) {
    const values = all.map((each) => each[name as keyof ReportedReadings]).filter((value) => typeof value === 'number');
    if (values.length > 0) means[name] = values.reduce((sum, value) => sum + value, 0) / values.length;
  }
  return { ...(means as ReportedReadings), ...(last.disks && { disks: last.disks }) };
};
