import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import { readOwnTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/units.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import { readLoad, toWeek } from './load.ts';
import type { RecordedMessages } from './recorded-messages.ts';
import type { Rotations } from './rotations.ts';

/** Local hours on Monday between which the report is sent. */
const hours = { from: 9, until: 21 };

/** Milliseconds between two readings of the clock. */
const lookMs = minuteMs;

/** Maximum number of incidents listed in a report. */
const mostListed = 10;

/** Kind of runtime setting that records the week of each person's last report. */
export const weeklyReportKind = 'weekly-report';

interface ReportParts {
  rotations: Rotations;
  settings: Pick<SettingStore, 'isRead'>;
  messages: Pick<RecordedMessages, 'sendOnce'>;
  incidents: Pick<IncidentSource, 'listSent' | 'find'>;
  /** Returns the people with a usable contact method. */
  listReachable(): readonly string[];
  zoneOf(person: string): ZoneClock;
  lease: Pick<Lease, 'isHeld'>;
  isEnabled(): boolean;
  clock: () => Date;
}

/**
 * Sends people in rotations a report on Mondays. It has the pages and disturbed nights of the last week, and the
 * incidents on which nobody acted.
 */
export class WeeklyReport {
  readonly #parts: ReportParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { rotations, lease, settings, messages, isEnabled, clock } = this.#parts;
    if (!isEnabled() || !lease.isHeld() || !settings.isRead()) return;
    const now = clock().getTime();
    const zone = new ZoneClock(readOwnTimeZone());
    const local = zone.toLocal(now);
    const monday = toWeek(local);
    if (local < monday + hours.from * hourMs || local >= monday + hours.until * hourMs) return;
    const until = zone.toFirstTime(monday + hours.until * hourMs);
    const reachable = new Set(this.#parts.listReachable());
    const members = rotations.list().flatMap(({ kind, members: all }) => (kind === 'person' ? all : []));
    const week = monday - 7 * dayMs;
    for (const person of new Set(members)) {
      if (!reachable.has(person)) continue;
      const record = `${week}`;
      const write = (): Promise<string | undefined> => this.#write(week);
      messages.sendOnce({ kind: weeklyReportKind, name: person, member: 'week', record, person, until, write });
    }
  }

  /** Writes the report. Resolves to undefined if nobody was paged. */
  async #write(monday: number): Promise<string | undefined> {
    const { incidents, zoneOf } = this.#parts;
    const load = await readLoad(incidents, zoneOf, (_, week) => week === monday);
    if (load.length === 0) return undefined;
    const lines = load.flatMap(({ person, weeks }) =>
      weeks.map(({ pages, nights }) => `${person}: ${count(pages, 'page')}, woken on ${count(nights, 'night')}`),
    );
    const ignored = new Map(
      load.flatMap(({ weeks }) => weeks.flatMap(({ notActedOn }) => notActedOn.map((one) => [one.number, one]))),
    );
    const listed = [...ignored.values()].sort((one, other) => one.number - other.number);
    const rest = listed.length - mostListed;
    const ends = listed
      .slice(0, mostListed)
      .map(({ number, level, title }) => `#${number} ${level} ${title.slice(0, 200)}`);
    return [
      `Pages from ${toDate(monday)} to ${toDate(monday + 6 * dayMs)}:`,
      ...lines,
      ...(listed.length === 0
        ? ['Every incident was acknowledged or resolved.']
        : ['Incidents that nobody acted on:', ...ends]),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ].join('\n');
  }
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const toDate = (local: number): string => new Date(local).toISOString().slice(0, 10);
