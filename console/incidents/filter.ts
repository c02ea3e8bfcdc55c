import type { client } from '../api.ts';
import { createAddressChoice, createAddressFilter, readPageCount } from '../list-address.ts';
import { session } from '../session.ts';

type IncidentQuery = NonNullable<Parameters<(typeof client)['listIncidents']>[0]>;

export const incidentFilter = createAddressFilter(['level', 'source', 'hostname', 'q', 'mine']);

/** State filter. */
export const stateChoice = createAddressChoice('state', ['active', 'resolved', 'all'], 'active', ['pages']);

/** Page size. All active incidents are shown on one page, worst first. */
const pageSize = { active: 1000, resolved: 100, all: 100 };

/** Reads the query for the server from the URL. */
export const readQuery = (): IncidentQuery => {
  const state = stateChoice.read();
  const { mine, ...others } = incidentFilter.read();
  const limit = Math.min(1000, readPageCount() * pageSize[state]);
  return { state, limit, ...others, ...(mine && session.value && { mine }) } as IncidentQuery;
};
