import assert from 'node:assert/strict';
import type { Incident, IncidentEvent } from '../../../src/features/incidents/schema.ts';
import type { TestApp } from '../../support/app.ts';
import { waitUntilPasses } from '../../support/wait.ts';

export interface Page {
  count: number;
  total: number;
  data: Incident[];
  next: number | null;
}

export type Details = Incident & { timeline: IncidentEvent[]; lastAlert: Record<string, unknown> | null };

/** App of a test. */
export type Asked = Pick<TestApp, 'request'>;

export const listIncidents = async ({ request }: Asked, query = ''): Promise<Page> => {
  const { status, json } = await request<Page>('GET', `/api/incidents${query}`);
  assert.equal(status, 200);
  assert.equal(json.count, json.data.length);
  return json;
};

export const readIncident = async ({ request }: Asked, id: string | number): Promise<Details> => {
  const { status, json } = await request<Details>('GET', `/api/incidents/${id}`);
  assert.equal(status, 200);
  return json;
};

/**
 * Waits until the query finds one incident with the expected members. Needed because alerts are folded in the
 * background.
 */
export const waitForIncident = async (
  app: Asked,
  expected: Partial<Incident>,
  query = '?state=all',
): Promise<Incident> => {
  let found: Incident | undefined;
  await waitUntilPasses(async () => {
    const { data } = await listIncidents(app, query);
    assert.equal(data.length, 1);
    [found] = data;
    const names = Object.keys(expected) as (keyof Incident)[];
    assert.deepEqual(Object.fromEntries(names.map((name) => [name, found?.[name]])), expected);
  });
  return found as Incident;
};

/** Returns the types of the timeline events. */
export const listEvents = async (app: Asked, id: string | number): Promise<string[]> =>
  (await readIncident(app, id)).timeline.map(({ type }) => type);
