import { HttpError } from '../../../http/errors.ts';
import { fetchDocument } from '../../../kit/fetch-document.ts';
import { type Reach, UncheckedAddress } from '../../../kit/reach.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import { connectionFailures } from '../../../lib/network-failures.ts';
import { dayMs, hourMs, MiB, minuteMs } from '../../../lib/units.ts';
import { absenceKind, type KnownAbsences, parseCalendarUrl, type StoredAbsences } from './absence-kind.ts';
import type { Period } from './layer.ts';

/** Milliseconds between two readings of a calendar, and timeout of one reading. */
const readMs = hourMs;
const timeoutMs = 20_000;

const maxBytes = 10 * MiB;

/** Number of days to look ahead for absences. */
const daysAhead = 90;

/** Result of the last reading of a person's calendar. */
interface Reading {
  url: string;
  /** Unix milliseconds. */
  at: number;
  absences: readonly Period[];
  problem: string | null;
}

interface AbsenceParts {
  settings: SettingStore;
  reach: Reach;
  clock: () => Date;
  /** Called when the known absences may have changed. */
  onChanged: () => void;
}

/** Absences from people's calendars. Each calendar is read once an hour. Calendars are read one at a time. */
export class Absences {
  readonly settings: SettingKeeper<StoredAbsences, KnownAbsences>;
  readonly #parts: AbsenceParts;
  readonly #readings = new Map<string, Reading>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;

  constructor(parts: AbsenceParts) {
    this.#parts = parts;
    this.settings = new SettingKeeper(absenceKind, {
      settings: parts.settings,
      check: ({ url }) => {
        try {
          parts.reach.assertHost(parseCalendarUrl(url).hostname);
        } catch (error) {
          if (!(error instanceof UncheckedAddress)) throw error;
          throw new HttpError('invalid', `${error.message}: an administrator can allow the host`);
        }
      },
    });
  }

  start(): void {
    this.settings.onChanged(() => {
      this.#parts.onChanged();
      void this.read();
    });
    this.#timer = setInterval(() => void this.read(), minuteMs).unref();
    void this.read();
  }

  /** Returns the known absences of a person, earliest first. */
  listOf(person: string): readonly Period[] {
    return this.findReading(person)?.absences ?? [];
  }

  /** Returns the last reading of a person's calendar. Undefined before the first reading. */
  findReading(person: string): Reading | undefined {
    const reading = this.#readings.get(person);
    return reading?.url === this.settings.find(person)?.url ? reading : undefined;
  }

  /** Reads all calendars that are due. Never rejects. */
  read(): Promise<void> {
    this.#working ??= this.#read().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#working;
  }

  async #read(): Promise<void> {
    const { clock, reach } = this.#parts;
    for (const { name, url } of this.settings.list()) {
      const now = clock().getTime();
      const before = this.findReading(name);
      if (this.#closing.signal.aborted || (before && Math.abs(now - before.at) < readMs)) continue;
      const within = { startsAt: now, endsAt: now + daysAhead * dayMs };
      const result = await fetchAbsences(url, within, reach, this.#closing.signal)
        .then(({ absences, skipped }) => ({
          absences,
          problem: skipped === 0 ? null : `skipped ${skipped} events that recur in an unsupported pattern`,
        }))
        // The absences from the last successful reading remain valid.
        .catch((error) => ({ absences: before?.absences ?? [], problem: toReason(error) }));
      this.#readings.set(name, { url, at: now, ...result });
      this.#parts.onChanged();
    }
  }
}

const toReason = (error: NodeJS.ErrnoException): string => {
  if (error.name === 'TimeoutError') return 'the server did not send a complete response within 20 seconds';
  return connectionFailures[error.code ?? ''] ?? error.message;
};

/** Reads the absences in a calendar. Rejects with an Error if the calendar is unusable, too long or too slow. */
const fetchAbsences = async (
  url: string,
  within: Period,
  { lookup, assertHost }: Reach,
  closing: AbortSignal,
): Promise<{ absences: Period[]; skipped: number }> => {
  const address = parseCalendarUrl(url);
  assertHost(address.hostname);
  const text = await fetchDocument(address, {
    accept: 'text/calendar',
    maxBytes,
    signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]),
    server: 'the server',
    document: 'the calendar',
    lookup,
  });
  const { readAbsences } = await import('./absence-events.ts');
  return readAbsences(text, within);
};
