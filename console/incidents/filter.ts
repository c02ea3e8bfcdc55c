import type { client } from '../api.ts';
import { place, setParams } from '../router.ts';

type IncidentQuery = NonNullable<Parameters<(typeof client)['listIncidents']>[0]>;

const names = ['level', 'source', 'hostname', 'q'] as const;

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
  const { params } = place.value;
  const state = readState();
  const filters = Object.fromEntries(names.flatMap((name) => (params[name] ? [[name, params[name]]] : [])));
  const pages = Math.max(1, Math.min(10, Number(params['pages']) || 1));
  return { state, limit: Math.min(1000, pages * pageSize[state]), ...filters };
};

export const showMore = (): void =>
  setParams({ pages: String((Number(place.value.params['pages']) || 1) + 1) }, { replace: true });

export const hasFilter = (): boolean => names.some((name) => place.value.params[name]);

export const clearFilter = (): void => setParams(Object.fromEntries(names.map((name) => [name, undefined])));
