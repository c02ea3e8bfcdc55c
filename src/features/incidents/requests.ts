import { requireKnown } from '../../http/errors.ts';
import { requireTime } from '../../http/text-forms.ts';
import { uuidForm } from '../../kit/shape.ts';
import type { StoredIncident } from './incident.ts';
import type { IncidentStore } from './store.ts';

/** Finds an incident by the id or number in a path. Rejects with an HttpError if the incident does not exist. */
export const requireIncident = async (store: Pick<IncidentStore, 'find'>, id: string): Promise<StoredIncident> => {
  const text = id.toLowerCase();
  const name = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : text;
  const incident = typeof name === 'number' || uuidForm.test(name) ? await store.find(name) : undefined;
  return requireFound(incident, id);
};

/** Returns the given incident. Throws an HttpError if it is undefined. */
export const requireFound = (incident: StoredIncident | undefined, id: string): StoredIncident =>
  requireKnown(incident, 'Incident', id, '/api/incidents?state=all');

/**
 * Converts a time in a request to Unix milliseconds. Undefined for a missing or empty text. Throws an HttpError for an
 * invalid time.
 */
export const toTimeBound = (name: string, text: string | undefined): number | undefined =>
  text === undefined || text === '' ? undefined : requireTime(name, text);
