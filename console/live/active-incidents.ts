import type { Incident } from 'signalbox/client';
import { client } from '../api.ts';
import { toHash } from '../router.ts';
import { isReadable } from '../routes.ts';
import { type Resource, useResource } from './resource.ts';

/** Maximum number of loaded incidents. */
const most = 1000;

/** Minimum milliseconds between requests while incidents change. */
const calm = 1000;

/** Open and acknowledged incidents. Undefined for users without access. */
export type ActiveIncidents = readonly Incident[] | undefined;

export const useActiveIncidents = (): Resource<ActiveIncidents> => {
  const load = async (signal: AbortSignal) =>
    isReadable('listIncidents')
      ? (await client.listIncidents({ state: 'active', limit: most }, { signal })).data
      : undefined;
  return useResource<ActiveIncidents, 'incidents'>(load, { topic: 'incidents', calm });
};

/** Finds the open incident for alerts with this source and these labels. */
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
