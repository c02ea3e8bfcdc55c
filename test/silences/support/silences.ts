import assert from 'node:assert/strict';
import type { Silence } from '../../../src/features/silences/schema.ts';
import type { TestApp } from '../../support/app.ts';

type Requester = Pick<TestApp, 'request'>;

export const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Creates a silence of one hour. The body may override the end. */
export const createSilence = async ({ request }: Requester, token: string, body: object): Promise<Silence> => {
  const { status, json, headers } = await request<Silence>('POST', '/api/silences', {
    token,
    body: { endsAt: inHours(1), ...body },
  });
  assert.equal(status, 201, JSON.stringify(json));
  assert.equal(headers['etag'], `"${json.version}"`);
  return json;
};

export const listSilences = async ({ request }: Requester, query = '') => {
  const { status, json } = await request<{ count: number; total: number; data: Silence[]; next: string | null }>(
    'GET',
    `/api/silences${query}`,
  );
  assert.equal(status, 200);
  return json;
};
