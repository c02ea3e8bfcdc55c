import type { Incident } from 'signalbox/client';
import { client } from '../api.ts';
import { toHash } from '../router.ts';
import { isReadable } from '../routes.ts';
import { type Resource, useResource } from './resource.ts';

/** As many are read at most. */
const most = 1000;

/** Milliseconds between two readings while incidents change. */
const calm = 1000;

/** Incidents that are open or taken; undefined where nobody may see them. */
export type ActiveIncidents = readonly Incident[] | undefined;

export const useActiveIncidents = (): Resource<ActiveIncidents> => {
  const load = async (signal: AbortSignal) =>
    isReadable('listIncidents')
      ? (await client.listIncidents({ state: 'active', limit: most }, { signal })).data
      : undefined;
  return useResource<ActiveIncidents, 'incidents'>(load, { topic: 'incidents', calm });
};

/** The incident that alerts of this source with these labels have opened. */
export const findIncident = (
  incidents: ActiveIncidents,
  source: string,
  labels: Record<string, string> = {},
): Incident | undefined =>
  incidents?.find(
    (incident) =>
      incident.source === source && Object.entries(labels).every(([name, value]) => incident.labels?.[name] === value),
  );

export const toIncidentHash = ({ number }: Pick<Incident, 'number'>): string => toHash(`/incidents/${number}`);
