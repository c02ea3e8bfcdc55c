import type { client } from '../api.ts';
import { createAddressFilter, readPageCount } from '../list-address.ts';
import { place } from '../router.ts';

type IncidentQuery = NonNullable<Parameters<(typeof client)['listIncidents']>[0]>;

export const incidentFilter = createAddressFilter(['level', 'source', 'hostname', 'q']);

/** The states that can be shown, by the address's `state`. */
export const shownStates = ['active', 'resolved', 'all'] as const;
export type ShownState = (typeof shownStates)[number];

/** Incidents of a page. All that are active are shown at once, the worst first. */
const pageSize = { active: 1000, resolved: 100, all: 100 };

export const readState = (): ShownState => {
  const { state } = place.value.params;
  return shownStates.find((each) => each === state) ?? 'active';
};

/** What is asked of the server, by the address. */
export const readQuery = (): IncidentQuery => {
  const state = readState();
  return { state, limit: Math.min(1000, readPageCount() * pageSize[state]), ...incidentFilter.read() } as IncidentQuery;
};
