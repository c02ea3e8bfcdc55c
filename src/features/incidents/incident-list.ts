import type { IncidentState } from '../../kit/incident.ts';
import type { Severity } from '../../kit/severity.ts';
import { createFilterTest } from '../../lib/wildcards.ts';
import type { StoredIncident } from './incident.ts';
import { isOf } from './responsible.ts';

/** Filter for incidents. Strings are in lower case. */
export interface IncidentFilter {
  states: readonly IncidentState[];
  level?: Severity | undefined;
  /** Pattern. May contain `*`. */
  source?: string | undefined;
  /** Patterns. At least one of them must match. They may contain `*`. */
  hostnames?: readonly string[] | undefined;
  /** Substring of the title. */
  q?: string | undefined;
  number?: number | undefined;
  /** Name of a user. Limits the list to incidents that concern this user. */
  user?: string | undefined;
  /** Limits the list to incidents with a last alert at or after this time, in Unix milliseconds. */
  since?: number | undefined;
  /** Limits the list to incidents with a first alert before this time, in Unix milliseconds. */
  until?: number | undefined;
}

/** Page of incidents, most recently changed first. */
export interface IncidentList {
  /** Total number of matches across all pages. */
  total: number;
  incidents: StoredIncident[];
  /** Value of `before` that requests the next page. */
  next: number | undefined;
}

/** Incidents by state, as `listIncidents` reads them. */
interface ListedIncidents {
  /** Yields incidents with changes before `before`. */
  newestFirst(states: readonly IncidentState[], before: number): Iterable<StoredIncident>;
  count(states: readonly IncidentState[]): number;
}

/** Returns a page of incidents that match a filter. */
export const listIncidents = (
  all: ListedIncidents,
  filter: IncidentFilter,
  limit: number,
  before = Number.POSITIVE_INFINITY,
): IncidentList => {
  const { states, ...others } = filter;
  // The total of an unfiltered list is already known, so no further pages are read.
  const isUnfiltered = Object.values(others).every((value) => value === undefined);
  const isMatch = createFilter(filter);
  const incidents: StoredIncident[] = [];
  let total = 0;
  let hasMore = false;
  for (const incident of all.newestFirst(states, isUnfiltered ? before : Number.POSITIVE_INFINITY)) {
    if (!isMatch(incident)) continue;
    total += 1;
    if (incident.change >= before) continue;
    if (incidents.length < limit) incidents.push(incident);
    else hasMore = true;
    if (hasMore && isUnfiltered) break;
  }
  return {
    total: isUnfiltered ? all.count(states) : total,
    incidents,
    next: hasMore ? incidents.at(-1)?.change : undefined,
  };
};

const createFilter = (filter: IncidentFilter): ((incident: StoredIncident) => boolean) => {
  const { states, level, source, hostnames, q, number, user, since, until } = filter;
  const isSource = source === undefined ? undefined : createFilterTest(source);
  const isHost = hostnames?.map(createFilterTest);
  return (incident) =>
    states.includes(incident.state) &&
    (level === undefined || incident.level === level) &&
    (isSource === undefined || isSource(incident.source)) &&
    (isHost === undefined || isHost.some((isOne) => isOne(incident.hostname))) &&
    (number === undefined || incident.number === number) &&
    (user === undefined || isOf(user, incident)) &&
    (q === undefined || incident.title.toLowerCase().includes(q)) &&
    (since === undefined || incident.lastAt >= since) &&
    (until === undefined || incident.firstAt < until);
};
