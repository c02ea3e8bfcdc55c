import type { Severity } from '../../kit/severity.ts';
import { createFilterTest } from '../../lib/wildcards.ts';
import type { StoredIncident } from './incident.ts';
import type { IncidentState } from './schema.ts';

/** Which incidents to list; texts are compared in lower case. */
export interface IncidentFilter {
  states: readonly IncidentState[];
  level?: Severity | undefined;
  /** Patterns with `*`. */
  source?: string | undefined;
  hostname?: string | undefined;
  /** A part of the title. */
  q?: string | undefined;
  /** The number of the only one. */
  number?: number | undefined;
  /** Unix milliseconds: the last alert was not before `since`, and the first one was before `until`. */
  since?: number | undefined;
  until?: number | undefined;
}

/** Incidents, the last changed first; `next` is the `before` of the next page. */
export interface IncidentList {
  total: number;
  incidents: StoredIncident[];
  next: number | undefined;
}

/** Whether an incident is wanted. */
export const createFilter = (filter: IncidentFilter): ((incident: StoredIncident) => boolean) => {
  const { states, level, source, hostname, q, number, since, until } = filter;
  const isSource = source === undefined ? undefined : createFilterTest(source);
  const isHost = hostname === undefined ? undefined : createFilterTest(hostname);
  return (incident) =>
    states.includes(incident.state) &&
    (level === undefined || incident.level === level) &&
    (isSource === undefined || isSource(incident.source)) &&
    (isHost === undefined || isHost(incident.hostname)) &&
    (number === undefined || incident.number === number) &&
    (q === undefined || incident.title.toLowerCase().includes(q)) &&
    (since === undefined || incident.lastAt >= since) &&
    (until === undefined || incident.firstAt < until);
};
