import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentSource, SentNotification } from '../../../kit/incident-source.ts';
import type { ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs, hourMs } from '../../../lib/units.ts';
import { splitWayName } from '../people/way.ts';

/** Local hours of a night. A night belongs to the day on which it begins. */
const night = { begins: 22, ends: 7 };

/** Maximum number of notifications to read. No more are stored. */
const mostNotifications = 10_000;

/** Load of one person in a week. */
interface WeekLoad {
  /** Local midnight of the Monday on which the week begins. */
  week: number;
  /** Number of pages. A page sent to several contact methods counts once. */
  pages: number;
  /** Number of nights with a page. */
  nights: number;
  /** Incidents that paged the person but that nobody acknowledged or resolved. */
  notActedOn: readonly SharedIncident[];
}

interface WeeklyLoad {
  person: string;
  weeks: readonly WeekLoad[];
}

/** Notification that can wake a person. */
interface Page {
  person: string;
  way: string;
  incident: string;
  /** Local time of the page. */
  local: number;
  week: number;
}

/** Returns the local midnight at which the week's Monday begins. Days begin when the night ends. */
export const toWeek = (local: number): number => {
  const day = toDay(local);
  return day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs;
};

/** Returns the load of all people who were paged in the wanted weeks, by name. The latest week comes first. */
export const readLoad = async (
  incidents: Pick<IncidentSource, 'listSent' | 'find'>,
  zoneOf: (person: string) => ZoneClock,
  isWanted: (person: string, week: number) => boolean,
): Promise<WeeklyLoad[]> => {
  const sent = await incidents.listSent({}, mostNotifications);
  const zones = new Map<string, ZoneClock>();
  const toZone = (person: string): ZoneClock => {
    const zone = zones.get(person) ?? zoneOf(person);
    zones.set(person, zone);
    return zone;
  };
  const pages = sent.flatMap((one) => toPage(one, toZone) ?? []).filter(({ person, week }) => isWanted(person, week));
  const load: WeeklyLoad[] = [];
  for (const [person, own] of groupBy(pages, (page) => page.person)) {
    const weeks: WeekLoad[] = [];
    for (const [week, found] of groupBy(own, (page) => page.week)) {
      const ids = new Set(found.map(({ incident }) => incident));
      const all = await Promise.all(Array.from(ids, (id) => incidents.find(id)));
      weeks.push({
        week,
        pages: countPages(found),
        nights: new Set(found.filter(isAtNight).map(({ local }) => toDay(local))).size,
        notActedOn: all
          .filter((incident) => incident !== undefined)
          .filter((incident) => !isActedOn(incident))
          .sort((one, other) => one.number - other.number),
      });
    }
    load.push({ person, weeks: weeks.sort((one, other) => other.week - one.week) });
  }
  return load.sort((one, other) => (one.person < other.person ? -1 : 1));
};

const toPage = (
  { destination, what, at, incident, result }: SentNotification,
  zoneOf: (person: string) => ZoneClock,
): Page | undefined => {
  const names = splitWayName(destination);
  const isWaking = what === 'opened' || what === 'raised' || what === 'reminder' || what === 'addressed';
  if (!names || !isWaking || result !== 'delivered') return undefined;
  const local = zoneOf(names.person).toLocal(at);
  return { ...names, incident: incident.id, local, week: toWeek(local) };
};

const toDay = (local: number): number => Math.floor((local - night.ends * hourMs) / dayMs) * dayMs;

const isAtNight = ({ local }: Page): boolean => {
  const hour = new Date(local).getUTCHours();
  return hour >= night.begins || hour < night.ends;
};

/**
 * Counts pages. A page uses a person's contact methods one after another, according to their delays. The contact method
 * with the most notifications therefore counts.
 */
const countPages = (pages: readonly Page[]): number => {
  let count = 0;
  for (const ofIncident of groupBy(pages, ({ incident }) => incident).values()) {
    const byWay = groupBy(ofIncident, ({ way }) => way);
    count += Math.max(...Array.from(byWay.values(), ({ length }) => length));
  }
  return count;
};

const groupBy = <T, K>(all: readonly T[], toKey: (one: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const known = groups.get(toKey(one));
    if (known) known.push(one);
    else groups.set(toKey(one), [one]);
  }
  return groups;
};

const isActedOn = ({ acknowledged, resolved }: SharedIncident): boolean =>
  acknowledged !== null || resolved?.reason === 'person';
