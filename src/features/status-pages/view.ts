import {
  type Availability,
  type AvailabilitySource,
  type CheckId,
  type CheckState,
  checkStates,
} from '../../kit/availability.ts';
import type { SilenceStore } from '../../kit/silence-source.ts';
import { readOwnTimeZone } from '../../lib/time-zone.ts';
import { dayMs } from '../../lib/units.ts';
import type { Announcement } from './announcement.ts';
import type { KnownPage } from './kind.ts';
import { maxBars, toCheckId } from './page.ts';
import type { PageSummary } from './words.ts';

/** Number of days for which bars and percentages are shown. */
export const shownDays = 90;

/** Number of days for which a page shows planned maintenance and past announcements. */
const plannedDays = 30;
const pastDays = 15;
const maxPast = 10;

/** Colour of a day: no outage, a short outage, a long outage, maintenance without an outage, or unobserved. */
export type DayTone = 'good' | 'part' | 'bad' | 'work' | 'none';

/** Check on a page, with the name that the page shows. */
export interface CheckView {
  name: string;
  state: CheckState;
  /** Start of the current state in Unix milliseconds. Undefined without history. */
  since: number | undefined;
  percentage: number | null;
  /** Share of unknown time in percent. */
  unknown: number;
  days: { day: string; tone: DayTone; percentage: number | null }[];
  /** Outages of the last 24 hours, newest first, in Unix milliseconds. `next`: the state after the outage. */
  outages: { startsAt: number; endsAt: number | null; next: CheckState }[];
  /** Percentage of the last 24 hours during which the check was up. */
  recent: number | null;
}

/** Maintenance. Affected checks have the names that the page gives them. */
export interface MaintenanceView {
  /** Id of the silence. It is shown only as a hash. */
  id: string;
  startsAt: number;
  endsAt: number;
  names: string[];
}

/** Content of a page. Times are Unix milliseconds. */
export interface PageView {
  page: KnownPage;
  timeZone: string;
  at: number;
  summary: PageSummary;
  groups: { name: string; checks: CheckView[] }[];
  maintenance: MaintenanceView[];
  open: readonly Announcement[];
  past: readonly Announcement[];
}

export interface ViewSources {
  availability: AvailabilitySource;
  silences: Pick<SilenceStore, 'listMaintenance'>;
  /** Lists the announcements of a page, newest first. */
  listAnnouncements(page: string): readonly Announcement[];
}

/** Creates the view of a page from data in memory. */
export const createView = (
  page: KnownPage,
  { availability, silences, ...sources }: ViewSources,
  at: number,
): PageView => {
  const { values, name } = page;
  const timeZone = values.timeZone ?? readOwnTimeZone();
  const checks = values.groups.flatMap((group) => group.checks);
  const hasBars = checks.length <= maxBars;
  const from = availability.findDayBefore(shownDays - 1, timeZone);
  const groups = values.groups.map((group) => ({
    name: group.name,
    checks: group.checks.map((check): CheckView => {
      const id = toCheckId(check);
      const { state, since } = availability.find(id) ?? { state: 'unknown' as const, since: undefined };
      const measured = availability.measure(id, from, at);
      return {
        name: check.name,
        state,
        since,
        percentage: measured.percentage,
        unknown: toUnknownShare(measured),
        recent: availability.measure(id, at - dayMs, at).percentage,
        outages: availability.listOutages(id, at - dayMs, at).map(({ startsAt, endsAt }) => ({
          startsAt,
          endsAt,
          next: endsAt === null || endsAt === since ? state : findStateAt(availability, id, endsAt),
        })),
        days: !hasBars
          ? []
          : availability.listDays(id, from, at, timeZone).map(({ day, up, down, maintenance, percentage }) => ({
              day,
              percentage,
              tone: toTone({ up, down, maintenance, percentage }),
            })),
      };
    }),
  }));
  const announcements = sources.listAnnouncements(name);
  return {
    page,
    timeZone,
    at,
    groups,
    summary: summarize(groups.flatMap((group) => group.checks.map(({ state }) => state))),
    maintenance: listMaintenance(page, availability, silences, at),
    open: announcements.filter(({ state }) => state !== 'resolved'),
    past: announcements
      .filter(({ state, updates }) => state === 'resolved' && (updates.at(-1)?.at ?? 0) > at - pastDays * dayMs)
      .slice(0, maxPast),
  };
};

/** Returns the state of a check in the second after the given time. */
const findStateAt = (availability: Pick<AvailabilitySource, 'measure'>, check: CheckId, from: number): CheckState => {
  const seconds = availability.measure(check, from, from + 1000);
  return checkStates.find((state) => seconds[state] > 0) ?? 'unknown';
};

const toUnknownShare = ({ up, down, maintenance, unknown }: Availability): number =>
  (100 * unknown) / Math.max(1, up + down + maintenance + unknown);

const toTone = (day: { up: number; down: number; maintenance: number; percentage: number | null }): DayTone => {
  if (day.percentage === null) return day.maintenance > 0 ? 'work' : 'none';
  if (day.down === 0) return day.maintenance > 0 ? 'work' : 'good';
  return day.percentage >= 95 ? 'part' : 'bad';
};

const summarize = (states: readonly CheckState[]): PageSummary => {
  if (states.includes('down')) return states.every((state) => state === 'down') ? 'down' : 'partly';
  if (states.includes('maintenance')) return 'maintenance';
  return states.includes('unknown') ? 'unknown' : 'up';
};

const listMaintenance = (
  { values }: KnownPage,
  availability: Pick<AvailabilitySource, 'findSubject'>,
  silences: Pick<SilenceStore, 'listMaintenance'>,
  at: number,
): MaintenanceView[] => {
  const named = values.groups.flatMap(({ checks }) =>
    checks.flatMap((check) => {
      const subject = availability.findSubject(toCheckId(check));
      return subject ? [{ name: check.name, subject }] : [];
    }),
  );
  const subjects = named.map(({ subject }) => subject);
  return silences.listMaintenance(subjects, at, at + plannedDays * dayMs).map(({ id, startsAt, endsAt, covered }) => ({
    id,
    startsAt,
    endsAt,
    names: [...new Set(covered.flatMap((index) => named[index]?.name ?? []))],
  }));
};
